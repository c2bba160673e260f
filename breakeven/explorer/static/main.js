// The question on top, the tabs, and what follows from a change.
const TABS = { why: ["why", drawWhy], map: ["map", drawMap], pipeline: ["pipeline", drawPipeline], code: ["code", drawCode] };
const STATES = ["warm", "src-cold", "dst-cold", "cold", "src-l2", "dst-l2", "l2", "src-l2-dst-cold", "src-cold-dst-l2"];

// The size under the pointer; before there is one the break-even, and of a map, where all sizes are alike, the middle.
function viewSize() {
  const mark = view.tab !== "map" && known.verdict && known.verdict.marks[0];
  const wanted = view.at !== "" ? Number(view.at) : mark ? mark.size : Math.sqrt(Math.max(state.least, 1) * state.most);
  return nearest(wanted) ?? Math.round(wanted);
}

function refreshView(force = false) {
  const place = byId("view");
  if (!place || !known.points.size) return;
  // What only draws otherwise asks nothing again.
  const key = fragment().replace(/&(zoom|from|find|all|open|hide|y|lx|ly)=[^&]*/g, "");
  // A map over sizes does not depend on the size under the pointer.
  const shownKey = view.tab === "map" && view.map && view.map !== "offsets" ? key.replace(/&at=\d+/, "") : `${key} ${viewSize()}`;
  if (!force && refreshView.shown === shownKey) return;
  refreshView.shown = shownKey;
  // Newer curves end what a view still asks: the next one asks again, whatever it is of.
  Promise.resolve((TABS[view.tab] || TABS.why)[1](place)).then((whole) => { if (whole === false && refreshView.shown === shownKey) refreshView.shown = null; });
}

function drawTabs() {
  const press = (name) => { view.tab = name; keepFragment(); drawTabs(); refreshView(true); };
  const bar = tabList(Object.entries(TABS).map(([name, [text]]) => [name, text]), () => view.tab, press, "");
  const place = byId("view") || make("div", { id: "view", role: "tabpanel", tabindex: -1 });
  byId("views").replaceChildren(bar, place);
}

// Commands and the view below the curves wait until no further change follows: the worker is free for its curves.
const PAUSE = 150;
let waiting = null, paused = null;
function drawRest() {
  clearTimeout(paused);
  paused = setTimeout(() => { rankParameters(); refreshView(); drawAgain(); }, PAUSE);
}

// What is shown changes with the question: the numbers at once, the rest when they are there.
function refresh(what = "question") {
  keepFragment();
  drawChanges();
  document.documentElement.dataset.busy = "1";
  known.asked = performance.now();
  byId("again").dataset.stale = "1";
  clearTimeout(paused);
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    trouble("");
    if (what === "machine") await describeMachine();
    const whole = await startCurves();
    if (whole) drawRest();
  }, 0);
}

function draw() { drawQuestion(); drawMachine(); drawCurves(); }

function routineField(i) {
  const usable = machine.routines.filter(([name, , lacks]) => !lacks || name === state.routines[i]);
  const options = usable.map(([name, kind, , own]) => [own ? `${name} (yours)` : name, name, kind]);
  if (!options.some(([, name]) => name === state.routines[i])) options.unshift([state.routines[i], state.routines[i], ""]);
  const field = select(i ? `against it` : "routine", options, state.routines[i], (value) => { state.routines[i] = value; state.routines = [...new Set(state.routines)]; draw(); refresh(); }, { disabled: !data.live });
  if (i > 0 && data.live) field.append(button("×", () => { state.routines.splice(i, 1); draw(); refresh(); }, { "aria-label": `leave out ${state.routines[i]}`, class: "quiet" }));
  return field;
}

function numberField(label, name, least, most) {
  const input = make("input", { type: "number", min: least, max: most, value: state[name], "aria-label": label, disabled: !data.live, onchange: (event) => {
    const value = Number(event.target.value);
    if (!Number.isInteger(value) || value < least || value > most) { event.target.value = state[name]; return; }
    state[name] = value;
    refresh();
  } });
  return make("label", { class: "field" }, make("span", {}, label), input);
}

function drawQuestion() {
  const presets = data.presets || [], known_ = presets.some(([name]) => name === state.machine);
  const machines = [...(known_ ? [] : [[state.machine, state.machine, "your file"]]), ...presets.map(([name, isa, about]) => [name, name, `${isa}: ${about}`])];
  const isaOf = (name) => (presets.find(([other]) => other === name) || [])[1];
  const pickMachine = (name) => {
    if (isaOf(name) !== machine.isa) state.routines = isaOf(name) === "x86" ? ["x64-copy-unrolled", "x64-copy-erms"] : ["rv-byte", "rv-word"];
    Object.assign(state, { machine: name, settings: [] });
    known.points = new Map(); known.old = null; known.ghosts = new Map();
    drawQuestion();
    refresh("machine");
  };
  const unused = machine.routines.filter(([name, , lacks]) => !lacks && !state.routines.includes(name));
  const add = make("button", { type: "button", class: "quiet", disabled: !unused.length || state.routines.length > 7, onclick: () => { state.routines = [...state.routines, unused[0][0]]; draw(); refresh(); } }, "+ routine");
  const own = make("button", { type: "button", class: "quiet", onclick: () => openOwn() }, "your own…");
  // Only the first of many calls finds a cache state: a throughput is warm.
  const pickConditions = (picked) => { Object.assign(state, picked); drawQuestion(); refresh(); };
  keepingFocus(byId("question"), () => byId("question").replaceChildren(
    make("div", { class: "fields" }, select("machine", machines, state.machine, pickMachine, { disabled: !data.live, id: "preset" }), state.routines.map((_, i) => routineField(i)), data.live ? [add, own] : null),
    make("div", { class: "fields" },
      numberField("source offset", "src", 0, 4095), numberField("destination offset", "dst", 0, 4095),
      select("cache", STATES.map((name) => [name, name]), state.cache, (value) => pickConditions({ cache: value, measure: value === "warm" ? state.measure : "latency" }), { disabled: !data.live }),
      select("measure", [["latency", "latency"], ["throughput", "throughput"]], state.measure, (value) => pickConditions({ measure: value, cache: value === "latency" ? state.cache : "warm" }), { disabled: !data.live }),
      numberField("sizes from", "least", 0, 2 ** 24), numberField("to", "most", 1, 2 ** 24))));
}

// A routine of one's own: dropped on the page, chosen, or pasted.
async function build(name, content, kind) {
  const inside = byId("own-said");
  const tell = (text, wrong = false) => {
    const place = inside || byId("notice");
    if (wrong && !inside) trouble(text, true);
    place.hidden = wrong && !inside;
    place.textContent = text;
  };
  trouble("");
  tell(`building ${name} and checking it at thousands of points ...`);
  const words = new URLSearchParams({ name, kind, isa: machine.isa });
  const found = await fetch(`add?${words}`, { method: "POST", headers: { "X-Token": data.token }, body: content })
    .then((answer) => answer.json(), () => ({ error: "The server is gone." }));
  if (found.error) { tell(found.error, true); return; }
  tell(`${found.routines.join(", ")}: verified at ${found.points} points. ${found.notes.join(" ")}`);
  state.routines = [...new Set([...state.routines.filter((each) => !found.routines.includes(each)), ...found.routines])].slice(-8);
  await describeMachine();
  draw();
  refresh();
}

// What a file is taken for that does not say it: what the first routine is.
const usualKind = () => (machine.routines.find(([name]) => name === state.routines[0]) || [])[1] || "copy";

function openOwn() {
  const kind = make("select", { "aria-label": "what it does" }, ["copy", "checksum", "user-copy", "copy-checksum", "set", "move"].map((name) => make("option", { selected: name === usualKind() }, name)));
  const name = make("input", { type: "text", value: "my_copy.S", "aria-label": "file name", pattern: "[A-Za-z0-9_.+-]+\\.(S|c)" });
  const text = make("textarea", { rows: 12, spellcheck: "false", "aria-label": "its text", placeholder: "Paste assembly (.S) or C (.c), or choose or drop a file (.S, .s, .c, .o)." });
  const file = make("input", { type: "file", accept: ".S,.s,.c,.o", "aria-label": "a file", onchange: () => { if (file.files[0]) build(file.files[0].name, file.files[0], kind.value); } });
  const box = make("dialog", { id: "own" }, make("h2", {}, "A routine of your own"),
    make("p", { class: "soft" }, "It is built and checked as `breakeven add` does it, at every size and offset that matters, then drawn beside the others."),
    make("div", { class: "fields" }, make("label", { class: "field" }, make("span", {}, "kind"), kind), make("label", { class: "field" }, make("span", {}, "file name"), name), file), text, make("pre", { id: "own-said", role: "status" }),
    make("div", { class: "fields" }, button("build and draw", () => build(name.value, text.value, kind.value), { class: "main" }), button("close", () => { box.close(); box.remove(); })));
  document.body.append(box);
  box.showModal();
}

function theme(next) {
  const now = document.documentElement.dataset.theme || "auto", order = ["auto", "light", "dark"];
  const chosen = next || order[(order.indexOf(now) + 1) % 3];
  document.documentElement.dataset.theme = chosen;
  byId("theme").textContent = `theme: ${chosen}`;
  try { localStorage.setItem("breakeven-theme", chosen); } catch { /* a page without a site of its own keeps nothing */ }
}

function start() {
  let kept = "auto";
  try { kept = localStorage.getItem("breakeven-theme") || "auto"; } catch { /* as above */ }
  byId("tools").replaceChildren(...shareTools().filter(Boolean), button("theme", () => theme(), { id: "theme", class: "quiet" }));
  theme(kept);
  openOnPaper("#measurements details");
  // The first stop of a keyboard: past the parameters.
  document.body.prepend(button("to the curves", () => byId("plot").focus(), { class: "skip" }));
  if (data.live) readFragment(location.hash);
  else if (data.ranked) machine.ranked = new Map(data.ranked);
  makeCurves();
  drawTabs();
  drawQuestion();
  if (!data.live) byId("verdict").before(make("p", { class: "soft" }, `A snapshot${data.made ? ` of ${data.made}` : ""}. To change something: `, make("code", {}, `breakeven explore '#${fragment()}'`)));
  // The curves first: the parameters are asked for behind the first sizes.
  // What else there is to choose is looked for behind the first curves, or where there are none.
  let offered = !data.live;
  const offer = () => { if (!offered) { offered = true; ask("about", {}, (line) => Object.assign(data, line)).then(() => { drawQuestion(); drawDots(); }); } };
  const curves = startCurves(offer);
  curves.then(offer);
  const described = describeMachine().then(() => { drawQuestion(); if (view.tab === "map") refreshView(true); });
  curves.then((whole) => { if (whole) { drawAgain(); refreshView(); described.then(() => rankParameters()); } });
  addEventListener("hashchange", () => { if (data.live && location.hash.slice(1) !== fragment() && readFragment(location.hash)) { drawQuestion(); refresh("machine"); drawTabs(); } });
  addEventListener("dragover", (event) => { if (data.live) { event.preventDefault(); document.documentElement.classList.add("dropping"); } });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.documentElement.classList.remove("dropping"); });
  addEventListener("drop", (event) => {
    document.documentElement.classList.remove("dropping");
    const file = event.dataTransfer && event.dataTransfer.files[0];
    if (!data.live || !file) return;
    event.preventDefault();
    build(file.name, file, usualKind());
  });
  // A notebook shows the snapshot until it hears of the live page.
  if (data.live && parent !== window) parent.postMessage("breakeven explore", "*");
  byId("question").addEventListener("submit", (event) => event.preventDefault());
}
start();
