// The curves: cycles over size, ghosts of the machine as its file has it, break-evens, the verdict.
const known = { points: new Map(), ghosts: new Map(), verdict: null, ghostVerdict: null, old: null, done: false, routines: [], dots: [], host: [], hostOf: "", started: 0, first: 0, grid: 0, all: 0 };

// `shownFirst`: called when the first sizes are on the screen.
function startCurves(shownFirst = () => {}) {
  // A slider that moves on before its curves are whole.
  const moving = known.points.size > 0 && !known.done;
  known.old = known.points.size ? { points: known.points, routines: known.routines } : known.old;
  Object.assign(known, { points: new Map(), ghosts: new Map(), verdict: known.verdict, ghostVerdict: null, done: false, routines: [...state.routines], started: known.asked || performance.now(), asked: 0, first: 0, drawing: 0 });
  document.documentElement.dataset.busy = "1";
  const coming = machine.coming;
  machine.coming = null;
  return ask("curves", { coming, moving }, (line) => {
    // Most often there are no measurements: nothing to draw.
    if (!line.dots || line.dots.length + known.dots.length) drawSoon();
    if (line.points) {
      if (!trouble.own) trouble("");
      if (!known.first) { known.old = null; known.first = -1; seen("first", () => { setTimeout(() => performance.mark("first")); shownFirst(); }); }
      for (const [at, rows] of line.points) known.points.set(at, rows);
      machine.idle = line.without_effect;
    }
    for (const [at, rows] of line.ghost || []) known.ghosts.set(at, rows);
    if (line.dots) known.dots = line.dots;
    if (line.verdict) {
      if (!line.done && known.points.size > 8) seen("grid");
      known.verdict = line.verdict; known.done = line.done; drawVerdict();
    }
    if (line.done) seen("all", finishedCurves);
    if (line.ghost_verdict) { known.ghostVerdict = line.ghost_verdict; drawVerdict(); }
  }).then((whole) => { if (whole) delete document.documentElement.dataset.busy; return whole; });
}

// Several lines may come within one frame: the curves are drawn once for all of them.
let drawing = 0;
function drawSoon() {
  drawing ||= requestAnimationFrame(() => { drawing = 0; drawCurves(); });
}

// How long it took until what has come is on the screen, in milliseconds from the change on.
function seen(name, then = () => {}) {
  const started = known.started;
  requestAnimationFrame(() => { if (known.started !== started) return; known[name] = performance.now() - started; then(); });
}

function finishedCurves() {
  delete document.documentElement.dataset.busy;
  drawChanges();
  document.documentElement.dataset.measured = JSON.stringify({ first: Math.round(known.first), grid: Math.round(known.grid), all: Math.round(known.all), drawing: Math.round(known.drawing), sizes: known.points.size });
}

function drawVerdict() {
  const verdict = known.verdict, place = byId("verdict");
  if (!verdict) return;
  if (verdict.failures.length) {
    place.replaceChildren(make("p", { class: "wrong" }, `Wrong output at ${plural(verdict.failures.length, "point")}; the first: ${verdict.failures[0]}`));
    return;
  }
  const before = known.ghostVerdict && state.settings.length ? known.ghostVerdict.sentences : [];
  const lines = verdict.sentences.slice(0, 1).map((text) => make("p", { class: "said" }, `${text}.`,
    before.length ? make("small", {}, before[0] === text ? " The same without the changes." : ` As the file has ${state.machine}: ${before[0]}.`) : ""));
  if (state.routines.length < 2) lines.push(make("p", { class: "soft" }, "Add a second routine to see a break-even."));
  const sure = known.done ? [...verdict.sentences.slice(1), verdict.sure, verdict.note].filter(Boolean).map((text) => `${text}.`) : [];
  place.replaceChildren(...lines, ...sure.map((text) => make("p", { class: "soft" }, text)));
}

const measured = (at, rows, i) => (view.y === "byte" ? rows[i][1] / Math.max(at, 1) : view.y === "rate" ? at / Math.max(rows[i][1], 1e-9) : rows[i][1]);

// The points are of the routines that were asked for (`names`), which need not be those chosen since.
function linesOf(points, ghost, names = known.routines) {
  return names.map((name, column) => ({ name, i: Math.max(0, state.routines.indexOf(name)), ghost, points: [...points].map(([at, rows]) => [at, measured(at, rows, column)]).sort((a, b) => a[0] - b[0]) }))
    .filter((line) => !isHidden(line.name) && state.routines.includes(line.name));
}

// Of two routines the threshold, of more where the lead changes.
function bandsOf() {
  if (!known.verdict || known.old) return [];
  return known.verdict.marks.map((mark) => ({ from: mark.lower, to: mark.size, i: state.routines.indexOf(mark.leader), text: mark.text }));
}

// What a measurement on this host was of: its silicon knows no settings.
const hostQuestion = () => JSON.stringify([state.routines, state.src, state.dst, state.cache, state.measure]);

function dotsOf() {
  const host = known.hostOf === hostQuestion() ? known.host : [];
  return [...known.dots, ...host.map((dot) => [...dot.slice(0, 4), true])].filter(([name, at]) => state.routines.includes(name) && !isHidden(name) && at >= state.least && at <= state.most)
    .map(([name, at, cycles, text, hollow]) => ({ hollow, x: at, y: measured(at, [[0, cycles]], 0), i: state.routines.indexOf(name), text: `${name}, ${at} B: ${text}` }));
}

// Routines of one's own, which may be somebody else's code.
const ownRoutines = () => state.routines.filter((name) => machine.routines.some(([each, , , own]) => own && each === name));

const SMAP = "cpu.isa.enable_smap";

function measureHost(press) {
  const asked_ = hostQuestion(), trusted = ownRoutines();
  if (trusted.length && press.dataset.told !== asked_) {
    press.dataset.told = asked_;
    press.textContent = `press again: the code of ${trusted.join(", ")} runs on this host, as you`;
    return Promise.resolve();
  }
  press.disabled = true;
  // A program on this host has no user access to open and close: the curves beside its numbers are without, too.
  if (machine.isa === "x86" && settingOf(SMAP) === null) { setParameter(SMAP, "false"); refresh("parameter"); draw(); }
  Object.assign(known, { host: [], hostOf: asked_ });
  return ask("host", { trusted }, (line) => { known.host.push(...line.dots); drawCurves(); }).then(() => { press.disabled = false; });
}

function drawDots() {
  const dots = dotsOf(), place = byId("measurements");
  const here = data.host && data.host[0] === machine.isa ? button("measure on this host", (event) => measureHost(event.target), { class: "quiet", title: `runs these routines on ${data.host[1]}` }) : null;
  const open = place.querySelector("details");
  place.replaceChildren(...[dots.length ? make("details", { open: Boolean(open && open.open) }, make("summary", {}, `◆ ${plural(dots.length, "measurement")} on hardware`),
    make("ul", {}, dots.sort((a, b) => a.x - b.x).map((dot) => make("li", {}, dot.text)))) : null, here].filter(Boolean));
}

// Curves that are not shown: in the address, too.
const hiddenNames = () => view.hide.split(",").filter(Boolean);
const isHidden = (name) => hiddenNames().includes(name);
function hide(name) {
  view.hide = (isHidden(name) ? hiddenNames().filter((other) => other !== name) : [...hiddenNames(), name]).join(",");
  keepFragment();
}

let drawn = null, cursor = null;

function drawCurves() {
  const place = byId("plot"), began = performance.now();
  if (!place) return;
  const width = Math.max(280, place.clientWidth || 700), height = Math.round(Math.min(440, Math.max(260, width * 0.5)));
  const lines = known.points.size ? [...(state.settings.length ? linesOf(known.ghosts, true) : []), ...linesOf(known.points, false)]
    : known.old ? linesOf(known.old.points, false, known.old.routines).map((line) => ({ ...line, old: true })) : [];
  const labels = { call: "cycles per call", byte: "cycles per byte", rate: "bytes per cycle" };
  drawn = chart(width, height, lines, bandsOf(), { logX: view.lx === "1", logY: view.ly === "1", xlabel: "size (bytes)", ylabel: labels[view.y], dots: dotsOf(),
    title: `${labels[view.y]} over size: ${state.routines.join(", ")} on ${state.machine}` });
  place.replaceChildren(drawn.svg);
  drawLegend();
  drawDots();
  if (drawn.x) drawCursor();
  known.drawing += performance.now() - began;
}

function drawLegend() {
  byId("legend").replaceChildren(...state.routines.map((name, i) => button([
    make("svg", { width: 26, height: 8, "aria-hidden": "true" }, make("line", { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour(i), "stroke-width": 3, "stroke-dasharray": dash(i) })), ` ${name}`],
  () => { hide(name); drawCurves(); }, { "aria-pressed": String(!isHidden(name)), title: "show or hide" })),
  state.settings.length && known.ghosts.size ? make("span", { class: "soft" }, `thin: ${state.machine} as its file has it`) : "");
}

// The measured size nearest to a place on the axis.
function nearest(value) {
  const sizes = [...known.points.keys()];
  const far = (at) => (view.lx === "1" ? Math.abs(Math.log(Math.max(at, 0.5) / Math.max(value, 0.5))) : Math.abs(at - value));
  return sizes.length ? sizes.reduce((best, at) => (far(at) < far(best) ? at : best)) : null;
}

function drawCursor() {
  const at = view.at === "" ? null : nearest(Number(view.at)), place = byId("reading");
  if (cursor) cursor.remove();
  cursor = null;
  if (at === null || !known.points.has(at)) { place.textContent = "Point at the curves, or use the arrow keys, to read a size."; return; }
  const rows = known.points.get(at), names = known.routines, x = drawn.x.at(Math.max(at, view.lx === "1" ? 1 : 0));
  cursor = make("g", { class: "cursor" }, make("line", { x1: x, x2: x, y1: drawn.top, y2: drawn.bottom, stroke: "var(--ink)", "stroke-dasharray": "2 3" }),
    names.map((name, i) => (isHidden(name) || !(measured(at, rows, i) > 0) ? null : make("circle", { cx: x, cy: drawn.y.at(measured(at, rows, i)), r: 4, fill: colour(i), stroke: "var(--paper)" }))));
  drawn.svg.append(cursor);
  const best = Math.min(...rows.map((cells) => cells[1]));
  place.replaceChildren(make("b", {}, `${at} B`), ...names.map((name, i) => make("span", { style: `color:${colour(i)}` },
    ` ${name} `, make("b", {}, shown(rows[i][1])), ` cycles${rows[i][0] < rows[i][1] * 0.99 ? ` (least ${shown(rows[i][0])})` : ""}`,
    rows[i][1] > best * 1.01 ? ` ×${(rows[i][1] / best).toFixed(2)}` : "", rows[i][3] === false ? " not converged" : "")),
    ...dotsOf().filter((dot) => nearest(dot.x) === at && Math.abs(Math.log((dot.x + 1) / (at + 1))) < 0.06).map((dot) => make("span", { class: "soft" }, ` ◆ ${dot.text}`)));
}

let following = null;
function pointAt(at) {
  if (at === null || String(at) === String(view.at)) return;
  view.at = String(at);
  drawCursor();
  clearTimeout(following);
  following = setTimeout(() => { keepFragment(); refreshView(); }, 120);
}

function makeCurves() {
  const plot = make("div", { id: "plot", tabindex: 0, role: "group", "aria-label": "curves; arrow keys move along the sizes" });
  const move = (event) => { if (drawn && drawn.x) pointAt(nearest(drawn.x.back(event.clientX - plot.getBoundingClientRect().left))); };
  let frozen = false;
  plot.addEventListener("pointermove", (event) => { if (!frozen || event.buttons) move(event); });
  plot.addEventListener("pointerdown", (event) => { frozen = !frozen; move(event); });
  plot.addEventListener("pointerleave", () => { frozen = false; });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const sizes = [...known.points.keys()].sort((a, b) => a - b), i = sizes.indexOf(nearest(Number(view.at || state.least)));
    pointAt(sizes[Math.min(sizes.length - 1, Math.max(0, i + step))]);
  });
  const choose = (name, options) => select({ y: "show", lx: "sizes", ly: "times" }[name], options, view[name], (value) => { view[name] = value; keepFragment(); drawCurves(); });
  byId("curves").replaceChildren(
    make("div", { class: "bar" }, make("div", { id: "legend" }), make("div", { class: "choices" },
      choose("y", [["cycles per call", "call"], ["cycles per byte", "byte"], ["bytes per cycle", "rate"]]),
      choose("lx", [["log", "1"], ["linear", "0"]]), choose("ly", [["log", "1"], ["linear", "0"]]))),
    plot, make("p", { id: "reading" }), make("div", { id: "measurements" }));
  new ResizeObserver(() => drawCurves()).observe(plot);
}
