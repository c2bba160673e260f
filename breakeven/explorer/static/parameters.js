// The machine: its parameters as sliders, switches and choices, what was changed, and what moves this break-even.
const MARKS = { sourced: ["S", "from a cited source"], calibrated: ["C", "calibrated to a measurement"], assumed: ["A", "assumed"], gem5: ["g", "gem5's default"], measured: ["M", "measured on a host"], set: ["!", "set"] };
const machine = { controls: [], routines: [], isa: "", ranked: null, rankedOf: "", rankedAll: false, looked: new Map(), tried: new Map(), coming: null, idle: [], pointed: -Infinity };

const inUnit = (control, number) => (control.kind !== "number" ? number : control.unit === "B" ? bytes(number) : `${shown(number / control.factor)} ${control.unit}`.trim());
const numberOf = (control, text) => Number(String(text).replace(/[A-Za-z/]+$/, ""));
const textOf = (control, number) => `${control.whole ? Math.round(number) : Number(number.toPrecision(6))}${control.suffix}`;
const current = (control) => settingOf(control.path) ?? control.value;
const currentText = (control) => {
  const text = current(control);
  if (control.kind !== "number") return text;
  const number = numberOf(control, text);
  return number === control.number && control.word ? control.word : Number.isNaN(number) ? text : inUnit(control, number);
};

// null: as the machine's file has it.
const settingFor = (control, value) => (value === control.value ? null : value);

function change(control, value) {
  setParameter(control.path, settingFor(control, value));
  refresh("parameter");
}

// Positions of a slider <-> values: equal steps, or doublings.
function positions(control) {
  if (control.scale === "log2") {
    const below = Math.max(0, Math.floor(Math.log2(control.number / control.least))), above = Math.max(0, Math.floor(Math.log2(control.most / control.number)));
    return { most: below + above, at: (n) => Math.log2(n / control.number) + below, value: (p) => control.number * 2 ** (p - below) };
  }
  const rough = (control.most - control.least) / 240, whole = control.whole ? control.factor >= 1000 ? 1000 : 1 : 0;
  const unit = 10 ** Math.floor(Math.log10(rough)), step = Math.max(whole, [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough));
  return { most: Math.floor((control.most - control.least) / step), at: (n) => (n - control.least) / step, value: (p) => control.least + p * step };
}

// The value at a slider's place; where the file's own value is, that.
const valueAt = (control, steps, place) => (Math.abs(steps.at(control.number) - place) < 0.5 ? control.number : steps.value(place));

function slider(control) {
  const steps = positions(control), number = numberOf(control, current(control));
  const range = make("input", { type: "range", min: 0, max: steps.most, step: 1, "aria-label": control.label, "data-path": control.path, disabled: !data.live });
  const exact = make("input", { type: "text", inputmode: "decimal", "aria-label": `${control.label}, exactly`, value: currentText(control), disabled: !data.live });
  range.value = steps.at(number);
  let last = Number(range.value);
  range.setAttribute("aria-valuetext", currentText(control));
  range.addEventListener("input", () => {
    const at = Number(range.value), value = valueAt(control, steps, at), next = Math.min(Math.max(at + Math.sign(at - last), 0), Math.floor(steps.most));
    last = at;
    exact.value = inUnit(control, value);
    range.setAttribute("aria-valuetext", exact.value);
    // The same parameter stands in its group and among those that move the break-even.
    for (const other of controlsPlace.querySelectorAll("input[type=range]")) {
      if (other !== range && other.dataset.path === control.path) { other.value = range.value; other.nextElementSibling.value = exact.value; }
    }
    // Where the next step would lead: the server simulates it meanwhile.
    machine.coming = next === at ? null : settingsWith(control.path, settingFor(control, textOf(control, valueAt(control, steps, next))));
    change(control, textOf(control, value));
  });
  simulateUnderPointer(control, steps, range);
  const typed = () => {
    const text = exact.value.trim(), plain = /^-?[\d.]+$/.test(text);
    const match = text.match(/^(-?[\d.]+)\s*(\S*)$/);
    const own = match && match[2] === control.unit && control.unit !== "B";
    return plain || own ? textOf(control, Number(match[1]) * control.factor) : text.replace(/\s+/g, "");
  };
  let typing = null;
  exact.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => simulateAhead(control, typed()), RESTS);
  });
  exact.addEventListener("change", () => {
    clearTimeout(typing);
    change(control, typed());
    draw();
  });
  return [range, exact];
}

// The value that a press would jump to is known before it: the server simulates it meanwhile, and goes on with it when it
// is pressed. EVERY: milliseconds between two questions of a pointer that moves on; THUMB: pixels of a slider's thumb.
const RESTS = 60, EVERY = 30, THUMB = 16;
function simulateUnderPointer(control, steps, range) {
  let asked_ = 0, soon = null, wanted = null;
  const simulate = (at) => { asked_ = performance.now(); simulateAhead(control, textOf(control, valueAt(control, steps, at))); };
  range.addEventListener("pointermove", (event) => {
    if (event.buttons || event.pointerType === "touch") return;
    const box = range.getBoundingClientRect(), share = (event.clientX - box.left - THUMB / 2) / (box.width - THUMB);
    const at = Math.round(Math.min(1, Math.max(0, share)) * Math.floor(steps.most));
    if (at === wanted) return;
    wanted = at;
    clearTimeout(soon);
    if (at !== Number(range.value)) soon = setTimeout(() => simulate(at), Math.max(0, asked_ + EVERY - performance.now()));
  });
  for (const over of ["pointerdown", "pointerleave"]) range.addEventListener(over, () => { clearTimeout(soon); wanted = null; });
}

function simulateAhead(control, value) {
  const settings = settingsWith(control.path, settingFor(control, value));
  ask("ahead", { state: { ...state, settings } }, () => {});
}

// Where a control may be moved to next, the nearest places first, then what keys and a coarse hand reach.
function likely(control, most) {
  if (control.kind !== "number") return (control.kind === "switch" ? ["true", "false"] : control.choices).filter((value) => value !== current(control));
  const steps = positions(control), last = Math.floor(steps.most), at = Math.round(steps.at(numberOf(control, current(control)))), page = Math.max(1, Math.round(last / 10));
  const places = last < most ? Array.from({ length: 2 * last }, (_, i) => at + (i % 2 ? -1 : 1) * (1 + (i >> 1))) : [at + 1, at - 1, 0, last, at + page, at - page];
  for (let parts = 2; last >= most && parts <= 2 * last && places.length < 4 * most; parts *= 2) for (let i = 1; i < parts; i += 2) places.push(Math.round((last * i) / parts));
  return [...new Set(places.filter((place) => place >= 0 && place <= last && place !== at).map((place) => textOf(control, valueAt(control, steps, place))))].slice(0, most);
}

// The server simulates them while nothing else is asked: IN_HAND places of the control that was last in hand, then
// OF_EACH of the TOP that move this break-even most. Anything else that is asked ends it; behind that it goes on.
const IDLE = 300, IN_HAND = 24, TOP = 6, OF_EACH = 16;
let alongSoon = null;
function simulateAlong(control = machine.inHand) {
  machine.inHand = control;
  clearTimeout(alongSoon);
  if (!data.live) return;
  alongSoon = setTimeout(() => {
    if (document.documentElement.dataset.busy || document.hidden) return;
    const each = (one, most) => likely(one, most).map((value) => settingsWith(one.path, settingFor(one, value)));
    // Another machine may have no such control, or one with other values.
    const held = control && machine.controls.find((one) => one.path === control.path), others = strongestFew(TOP).filter((one) => one !== held);
    const list = [...(held ? each(held, IN_HAND) : []), ...others.flatMap((one) => each(one, OF_EACH))], all = JSON.stringify([state, list]);
    if (list.length && machine.along !== all) ask("along", { list }, () => {}).then((whole) => { if (whole) machine.along = all; });
  }, IDLE);
}

function inputs(control) {
  if (control.kind === "switch") {
    const box = make("input", { type: "checkbox", role: "switch", "aria-label": control.label, "data-path": control.path, disabled: !data.live,
      onpointerenter: () => simulateAhead(control, String(!box.checked)), onchange: (event) => { change(control, String(event.target.checked)); } });
    box.checked = current(control) === "true";
    return [box];
  }
  if (control.kind === "choice") {
    const list = make("select", { "aria-label": control.label, "data-path": control.path, disabled: !data.live, onchange: (event) => change(control, event.target.value) },
      control.choices.map((choice) => make("option", { value: choice, selected: choice === current(control) }, choice)));
    return [list];
  }
  return slider(control);
}

// What a step of it moves, where it is ranked.
function movedBy(path) {
  const moved = machine.ranked?.get(path) ?? null;
  // The ranking is of the machine as it was: what has been moved since may have moved the answer, too.
  if (moved === null || (moved < 0.0005 && settingOf(path) !== null)) return make("small", { class: "unranked" });
  return moved < 0.0005 ? make("small", { class: "unmoved" }, " no effect") : make("small", { class: "moved" }, ` ${shown(Number((moved * 100).toPrecision(2)))} %`);
}

function row(control) {
  const [letter, words] = MARKS[control.mark] || MARKS.gem5, changed = settingOf(control.path) !== null;
  const about = `${control.path}\n${words}${control.source ? `: ${control.source}` : ""}${control.kind === "number" && control.high < 2 ** 60 ? `\n${control.low} to ${control.high} is taken` : ""}`;
  // A finger has no tooltip: the mark opens the same text.
  const more = make("p", { class: "about", hidden: true }, about);
  const mark = button(letter, () => { more.hidden = !more.hidden; mark.setAttribute("aria-expanded", String(!more.hidden)); }, { class: `source ${control.mark}`, title: words, "aria-expanded": "false", "aria-label": `${control.label}: ${words}; more` });
  return make("div", { class: `control ${control.kind}${changed ? " changed" : ""}`, title: about, "data-row": control.path },
    make("div", { class: "name" }, mark, make("span", {}, control.label), control.kind === "number" ? make("small", { class: "range" }, rangeOf(control)) : null,
      movedBy(control.path),
      machine.idle.includes(control.path) ? make("small", { class: "idle" }, " without effect here") : null),
    make("div", { class: "inputs" }, ...inputs(control),
      changed && data.live ? button("↺", () => { change(control, control.value); draw(); }, { class: "reset", title: `back to ${currentBase(control)}`, "aria-label": `reset ${control.label}` }) : null), more);
}

// How far the slider goes; the field beside it takes what the engine takes.
const rangeOf = (control) => ` ${control.unit === "B" ? `${bytes(control.least)} to ${bytes(control.most)}` : `${shown(control.least / control.factor)} to ${shown(control.most / control.factor)} ${control.unit}`}`.trimEnd();

const currentBase = (control) => (control.kind === "number" ? control.word || inUnit(control, control.number) : control.value);

// The groups that are open are in the address. A search opens all.
const isOpen = (name) => view.open.split(",").includes(name);
function keepOpen(name, open) {
  if (view.find || isOpen(name) === open) return;
  view.open = (open ? [...view.open.split(",").filter(Boolean), name] : view.open.split(",").filter((other) => other !== name)).join(",");
  keepFragment();
}

function group(name, controls, note = "") {
  const details = make("details", { "data-group": name, ontoggle: () => { if (details.isConnected) keepOpen(name, details.open); if (details.open && details.childElementCount < 2) details.append(...controls.map(row)); } },
    make("summary", {}, name, make("small", {}, ` ${note || controls.length}`)));
  if (isOpen(name) || view.find) { details.open = true; details.append(...controls.map(row)); }
  return details;
}

function changedList() {
  if (!state.settings.length) return make("p", { class: "soft" }, "Nothing changed: this is the machine as its file has it.");
  const known = new Map(machine.controls.map((control) => [control.path, control]));
  return make("div", { class: "changes" }, make("ul", {}, state.settings.map((text) => {
    const control = known.get(pathOf(text));
    return make("li", {}, make("span", {}, control ? control.label : pathOf(text), ": ", control ? make("s", {}, currentBase(control)) : "", " ", make("b", {}, control ? currentText(control) : valueOf(text)),
      machine.idle.includes(pathOf(text)) ? make("small", { class: "idle" }, " without effect here") : ""),
    data.live ? button("×", () => { setParameter(pathOf(text), null); refresh("parameter"); draw(); }, { "aria-label": `reset ${pathOf(text)}`, title: "reset" }) : null);
  })), data.live ? button("reset all", () => { state.settings = []; refresh("parameter"); draw(); }, { class: "quiet" }) : null);
}

// Values of a control that are tried to see what it moves, and that a map has along it.
function steps(control, count) {
  if (control.kind === "switch") return ["true", "false"];
  if (control.kind === "choice") return control.choices;
  const where = positions(control), low = Math.max(0, where.at(control.number) - where.most / 4), high = Math.min(where.most, where.at(control.number) + where.most / 4);
  const wide = count > 2 ? [0, where.most] : [low, high];
  const found = Array.from({ length: count }, (_, i) => textOf(control, where.value(Math.round(wide[0] + ((wide[1] - wide[0]) * i) / (count - 1)))));
  return [...new Set(found)];
}

// What a ranking is of. Settings are not in it: the list must not change under a finger that moves a slider.
const rankQuestion = () => JSON.stringify([state.machine, state.routines.slice(0, 2), state.src, state.dst, state.cache, state.measure, state.least, state.most]);

// Asked behind the curves, by itself; new curves end it (the server does), and when they are drawn it goes on. A first
// look at each parameter makes a list that the whole ranking puts right.
async function rankParameters(again = false) {
  const question = rankQuestion(), place = rankingPlace;
  if (!data.live || state.routines.length < 2 || !machine.controls.length || (machine.rankedAll && machine.rankedOf === question && !again)) return;
  if (again || machine.rankedOf !== question) Object.assign(machine, { rankedOf: question, rankedAll: false, looked: new Map(), tried: new Map(), ranked: null });
  const all = machine.controls.filter((control) => control.main).map((control) => [control.path, steps(control, 2).filter((value) => value !== current(control))]).filter(([, values]) => values.length);
  const mark = known.verdict && known.verdict.marks[0], left = all.filter(([path]) => !machine.tried.has(path));
  const tell = () => inPlace(() => { place.textContent = `ranking ${machine.tried.size} of ${all.length}${machine.looked.size < all.length ? `, a first look at ${machine.looked.size}` : "; so far from a first look"}`; });
  tell();
  const whole = await ask("rank", { controls: left, looked: [...machine.looked], around: mark ? mark.size : null }, (line) => {
    (line.coarse ? machine.looked : machine.tried).set(line.path, line.moved);
    tell();
    if (line.coarse && machine.looked.size === all.length) { machine.ranked = new Map([...machine.looked, ...machine.tried]); drawRanked(); }
  });
  if (!whole || machine.rankedOf !== question) return;
  Object.assign(machine, { ranked: new Map(machine.tried), rankedAll: true });
  inPlace(() => place.replaceChildren(button("rank again", () => rankParameters(true), { class: "quiet", title: "Moves every parameter shown a step, from the machine as it is now" })));
  drawRanked();
}

// The strongest on top. The other rows stay, each with what it moves: a row drawn anew has a height of its own only when
// it is first seen. Nothing moves away under a pointer that is on its way: until it has been still for STILL milliseconds.
const STILL = 1000;
function drawRanked() {
  const wait = machine.pointed + STILL - performance.now();
  if (wait > 0) { setTimeout(drawRanked, wait); return; }
  inPlace(() => {
    controlsPlace.querySelectorAll("[data-row]").forEach((each) => each.querySelector(".unranked, .unmoved, .moved").replaceWith(movedBy(each.dataset.row)));
    controlsPlace.querySelectorAll("details[data-group=moves]").forEach((old) => { if (!old.contains(document.activeElement)) old.remove(); });
    const top = strongest();
    if (top && !controlsPlace.querySelector("details[data-group=moves]")) controlsPlace.prepend(top);
  });
}

const placeOf = (row) => `[data-group="${row.closest("[data-group]").dataset.group}"] [data-row="${row.dataset.row}"]`;

// The control under the pointer, else the one that has the keyboard, stays where it is on the screen: its name may get a
// line more.
function inPlace(drawAnew) {
  const focused = controlsPlace.contains(document.activeElement) && document.activeElement.closest("[data-row]"), held = machine.over || (focused && placeOf(focused));
  // A row may have been drawn anew since the pointer came to it: it is looked for by its name.
  const find = () => held && controlsPlace.querySelector(held), over = find();
  if (!over) { drawAnew(); return; }
  const top = (row) => (row.querySelector("input, select") || row).getBoundingClientRect().top, before = top(over);
  drawAnew();
  const row = over.isConnected ? over : find();
  if (!row) return;
  byId("machine").scrollTop += top(row) - before;
  scrollBy(0, top(row) - before);
}

// What has the keyboard in `place` keeps it, with what was typed, when `place` is drawn anew: it is looked for by its name.
function keepingFocus(place, drawAnew) {
  const nameOf = (each) => each.id || each.getAttribute("aria-label") || each.textContent;
  const alike = (name) => [...place.querySelectorAll("button, input, select, summary")].filter((each) => nameOf(each) === name);
  const held = place.contains(document.activeElement) ? document.activeElement : null, name = held && nameOf(held), nth = held && alike(name).indexOf(held);
  drawAnew();
  const again = held !== document.activeElement && held && alike(name)[nth];
  if (!again) return;
  if (held.matches("input:not([type=range], [type=checkbox])") && held.defaultValue === again.defaultValue) again.value = held.value;
  again.focus({ preventScroll: true });
}

function strongestFew(most) {
  const first = [...(machine.ranked || [])].filter(([, moved]) => moved >= 0.0005).sort((a, b) => b[1] - a[1]).slice(0, most);
  const all = new Map(machine.controls.map((control) => [control.path, control]));
  return first.map(([path]) => all.get(path)).filter(Boolean);
}

function strongest() {
  return !machine.ranked || view.find ? null : group("moves", strongestFew(12), "this break-even most: change of the ratio of times");
}

function found() {
  const words = view.find.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return machine.controls.filter((control) => view.all || control.main || settingOf(control.path) !== null);
  return machine.controls.filter((control) => words.every((word) => `${control.label} ${control.path} ${control.unit || ""} ${control.group} ${control.source} ${control.mark}`.toLowerCase().includes(word)));
}

const changesPlace = make("div", { id: "changes" }), controlsPlace = make("div", { id: "controls" }), rankingPlace = make("p", { id: "ranking", class: "soft", role: "status" });

// In hand is what took the keyboard last, or the pointer as it moved: not what is scrolled under a pointer at rest.
for (const over of ["focusin", "pointermove"]) {
  controlsPlace.addEventListener(over, (event) => {
    if (event.movementX === 0 && event.movementY === 0) return;
    if (over === "pointermove") machine.pointed = performance.now();
    const place = event.target.closest("[data-row]"), path = place && place.dataset.row;
    if (over === "pointermove") machine.over = place && placeOf(place);
    const control = path && (!machine.inHand || machine.inHand.path !== path) && machine.controls.find((each) => each.path === path);
    if (control) simulateAlong(control);
  });
}

controlsPlace.addEventListener("pointerleave", () => { machine.over = null; });

function drawControls() {
  const list = found(), groups = new Map();
  for (const control of list) groups.set(control.group, [...(groups.get(control.group) || []), control]);
  const parts = [];
  const top = strongest();
  if (top) parts.push(top);
  for (const [name, controls] of groups) parts.push(group(name, controls));
  if (!list.length) parts.push(make("p", { class: "soft" }, "No parameter has these words."));
  controlsPlace.replaceChildren(...parts);
}

function drawChanges() { changesPlace.replaceChildren(changedList()); }

function drawMachine() {
  const search = make("input", { type: "search", placeholder: "search parameters", "aria-label": "search parameters", value: view.find,
    oninput: (event) => { view.find = event.target.value; keepFragment(); drawControls(); } });
  const all = button(view.all ? "fewer" : `all ${machine.controls.length}`, () => { view.all = view.all ? "" : "1"; keepFragment(); drawMachine(); }, { class: "quiet", id: "how-many" });
  const box = make("details", { id: "parameters", open: innerWidth >= 860 || machine.unfolded, ontoggle: () => { machine.unfolded = box.open; } }, make("summary", {}, `Parameters of ${state.machine}`),
    make("div", { class: "searching" }, search, all), rankingPlace, controlsPlace);
  keepingFocus(byId("machine"), () => {
    drawChanges();
    drawControls();
    byId("machine").replaceChildren(changesPlace, box);
  });
}

async function describeMachine() {
  const described = { ...state, settings: [] };
  await ask("describe", { state: described }, (line) => Object.assign(machine, { controls: line.controls, routines: line.routines, isa: line.isa }));
  if (machine.rankedOf !== rankQuestion()) Object.assign(machine, { ranked: data.live ? null : machine.ranked, looked: new Map(), tried: new Map(), rankedOf: "", rankedAll: false });
  drawMachine();
}
