// Draws the page's figures and tables from the JSON in it. Text goes in as text nodes, never as HTML.
// Rows of a table in the document at once; filters reach the others.
const SHOWN_ROWS = 500;

const order = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1
  : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
const different = (values) => [...new Set(values)].sort(order);

// "64" is equal to 64, "> 64" and "<= 64" compare, other texts are looked for.
function matcher(text) {
  const compared = text.match(/^\s*(<=|>=|<|>|=)?\s*(-?\d+(?:\.\d+)?)\s*$/);
  if (compared) {
    const limit = Number(compared[2]);
    const test = { "<": (v) => v < limit, ">": (v) => v > limit, "<=": (v) => v <= limit, ">=": (v) => v >= limit }[compared[1]];
    return (value) => (typeof value === "number" ? (test ? test(value) : value === limit) : String(value).includes(text.trim()));
  }
  const wanted = text.trim().toLowerCase();
  return (value) => shown(value).toLowerCase().includes(wanted);
}

function table(columns, rows) {
  const state = { column: -1, down: false, filters: columns.map(() => "") };
  const body = make("tbody"), count = make("p", { class: "count" });
  const heads = columns.map((name, i) => make("th", { scope: "col", "aria-sort": "none" },
    make("button", { type: "button", title: "sort", onclick: () => {
      state.down = state.column === i && !state.down;
      state.column = i;
      draw();
    } }, name),
    make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${name}`, title: "text, 64, >64, <=64",
      oninput: (event) => { state.filters[i] = event.target.value; draw(); } })));
  function draw() {
    const tests = state.filters.map((text, i) => [i, text]).filter(([, text]) => text.trim()).map(([i, text]) => [i, matcher(text)]);
    const kept = rows.filter((row) => tests.every(([i, test]) => test(row[i])));
    if (state.column >= 0) {
      const sign = state.down ? -1 : 1;
      kept.sort((a, b) => sign * order(a[state.column], b[state.column]));
    }
    heads.forEach((head, i) => head.setAttribute("aria-sort", i !== state.column ? "none" : state.down ? "descending" : "ascending"));
    body.replaceChildren(...kept.slice(0, SHOWN_ROWS).map((row) => make("tr", {},
      ...row.map((value) => make("td", typeof value === "number" ? { class: "number" } : {}, shown(value))))));
    count.textContent = `${kept.length} of ${rows.length} rows` + (kept.length > SHOWN_ROWS ? `, the first ${SHOWN_ROWS} shown` : "");
  }
  draw();
  return make("div", {}, make("div", { class: "rows" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)), count);
}

function unpack(part) {
  const columns = part.columns.map((column) => (column.texts ? column.values.map((i) => column.texts[i]) : column.values));
  const index = Object.fromEntries(part.columns.map((column, i) => [column.name, i]));
  return { columns, index, rows: columns[0].map((_, i) => columns.map((column) => column[i])) };
}

// Points of one figure: per routine, x -> median of y over equal x.
function curves(data, x, y, coloured, chosen) {
  const byName = new Map();
  for (const row of data.rows) {
    if (Object.entries(chosen).some(([name, value]) => row[data.index[name]] !== value)) continue;
    const name = coloured.map((column) => shown(row[data.index[column]])).join(", ");
    const at = row[data.index[x]], value = row[data.index[y]];
    if (typeof at !== "number" || typeof value !== "number") continue;
    if (!byName.has(name)) byName.set(name, new Map());
    const points = byName.get(name);
    points.set(at, [...(points.get(at) || []), value]);
  }
  const middle = (values) => { values.sort((a, b) => a - b); const n = values.length; return (values[(n - 1) >> 1] + values[n >> 1]) / 2; };
  return [...byName].map(([name, points]) => [name, [...points].map(([at, values]) => [at, middle(values)]).sort((a, b) => a[0] - b[0])]);
}

function figure(part, data) {
  const axes = part.axes.filter((name) => name !== "routine");
  const numeric = axes.filter((name) => data.columns[data.index[name]].every((value) => typeof value === "number"));
  const several = numeric.filter((name) => new Set(data.columns[data.index[name]]).size > 1);
  const distinct = (name) => new Set(data.columns[data.index[name]]).size;
  // A part of one size and one condition: a bar for each routine.
  if (!several.length) several.push("size");
  const state = { x: several.includes("size") && distinct("size") >= 8 ? "size" : several.reduce((a, b) => (distinct(b) > distinct(a) ? b : a)),
    y: part.measured[0], also: "", logX: null, logY: null, chosen: {}, hidden: new Set() };
  const controls = make("div", { class: "controls" }), legend = make("div", { class: "legend" });

  function select(label, options, value, change) {
    return make("label", {}, `${label} `, make("select", { "aria-label": label, onchange: (event) => { change(options[event.target.selectedIndex]); all(label); } },
      ...options.map((option) => make("option", { selected: option === value }, option === "" ? "-" : shown(option)))));
  }
  function check(label, value, change) {
    const box = make("input", { type: "checkbox", "aria-label": label, onchange: (event) => { change(event.target.checked); draw(); } });
    box.checked = value;
    return make("label", {}, box, ` ${label}`);
  }
  // A grid need not hold every combination: the row that has what was just chosen and most of the rest.
  function nearest(fixed, changed) {
    const before = state.chosen, indices = fixed.map((name) => data.index[name]);
    let best = data.rows[0], most = -1;
    for (const row of data.rows) {
      if (changed && fixed.includes(changed) && row[data.index[changed]] !== before[changed]) continue;
      const same = fixed.reduce((sum, name, i) => sum + (row[indices[i]] === before[name]), 0);
      if (same > most) [best, most] = [row, same];
      if (most === fixed.length) break;
    }
    return Object.fromEntries(fixed.map((name, i) => [name, best[indices[i]]]));
  }
  function all(changed = "") {
    const others = axes.filter((name) => name !== state.x);
    if (!others.includes(state.also)) state.also = "";
    const fixed = others.filter((name) => name !== state.also);
    state.chosen = nearest(fixed, changed);
    const values = data.columns[data.index[state.x]];
    const most = values.reduce((a, b) => Math.max(a, b)), least = values.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Infinity);
    const wide = most / least >= 256;
    if (state.logX === null) state.logX = wide;
    if (state.logY === null) state.logY = wide && state.x === "size";
    controls.replaceChildren(
      select("along", several, state.x, (value) => { state.x = value; state.logX = state.logY = null; }),
      select("shown", part.measured, state.y, (value) => { state.y = value; }),
      others.length ? select("a line for each", ["", ...others], state.also, (value) => { state.also = value; }) : "",
      ...fixed.map((name) => select(name, different(data.columns[data.index[name]]), state.chosen[name], (value) => { state.chosen[name] = value; })),
      ...(distinct(state.x) > 1 ? [check("log x", state.logX, (value) => { state.logX = value; }), check("log y", state.logY, (value) => { state.logY = value; })] : []));
    draw();
  }
  // What is said of the chosen condition, and where its lead changes.
  function answers() {
    if (!part.leads || state.x !== "size" || state.also) return { sentences: [], notes: [], changes: [] };
    const names = part.leads.columns.slice(0, part.leads.conditions), sentences = [], notes = [], changes = [];
    part.leads.rows.forEach((row, at) => {
      if (names.some((name, i) => name in state.chosen && state.chosen[name] !== row[i])) return;
      sentences.push(...part.leads.said[at].slice(0, 1));
      notes.push(...part.leads.said[at].slice(1));
      changes.push(...part.leads.marks[at]);
    });
    return { sentences, notes, changes };
  }
  // Measured on hardware under the chosen condition.
  function dotsOf(lines) {
    if (state.x !== "size" || state.also || !["cycles", "bytes_a_cycle"].includes(state.y)) return [];
    return (part.dots || []).filter((dot) => !state.hidden.has(dot.routine) && Object.entries(dot.where).every(([name, value]) => !(name in state.chosen) || state.chosen[name] === value))
      .map((dot) => ({ x: dot.size, y: state.y === "cycles" ? dot.cycles : dot.size / dot.cycles, i: Math.max(0, lines.findIndex((line) => line[0] === dot.routine)), text: `${dot.routine}, ${dot.size} B: ${dot.said}` }));
  }
  const unit = { cycles: "cycles/call", bytes_a_cycle: "bytes/cycle", size: "size (bytes)" };
  const verdict = make("div", { class: "verdict" }), plot = make("div", { class: "figure", tabindex: 0, role: "group", "aria-label": "curves; arrow keys move along" }), measurements = make("details", { class: "count" });
  let now = null, at = null, width = 0;
  const below = viewsOf(part, data, state, (point) => {
    Object.assign(state.chosen, point.where);
    if (state.x !== "size" && state.x in point.where) delete state.chosen[state.x];
    all(Object.keys(point.where).find((name) => name in state.chosen) || "");
    below.show(point.size);
  });
  function draw() {
    drawCurves();
    below.show(state.x === "size" ? at : null);
  }
  function drawCurves() {
    const lines = curves(data, state.x, state.y, ["routine", ...(state.also ? [state.also] : [])], state.chosen);
    legend.replaceChildren(...lines.map(([name], i) => make("button", { type: "button", "aria-pressed": String(!state.hidden.has(name)),
      onclick: () => { state.hidden.has(name) ? state.hidden.delete(name) : state.hidden.add(name); draw(); } },
      make("svg", { width: 26, height: 8, "aria-hidden": "true" }, make("line", { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour(i), "stroke-width": 3, "stroke-dasharray": dash(i) })), ` ${name}`)));
    const visible = lines.map(([name, points], i) => ({ name, i, points })).filter((line) => !state.hidden.has(line.name));
    const { sentences, notes, changes } = answers();
    verdict.replaceChildren(...sentences.map((text) => make("p", { class: "said" }, `${text}.`)), ...notes.map((text) => make("p", { class: "soft" }, `${text}.`)));
    const bands = changes.map(([name, from, to]) => ({ from, to, i: Math.max(0, lines.findIndex((line) => line[0] === name)), text: `${to - from > 1 ? `${from}-${to}` : to} B` }));
    const dots = dotsOf(lines);
    measurements.replaceChildren(...(dots.length ? [make("summary", {}, `◆ ${plural(dots.length, "measurement")} on hardware`), make("ul", {}, dots.map((dot) => make("li", {}, dot.text)))] : []));
    measurements.hidden = !dots.length;
    width = Math.max(280, plot.clientWidth || 1000);
    now = distinct(state.x) < 2 && visible.length ? barChart(width, visible, `${unit[state.y] || state.y}; ${unit[state.x] || state.x} ${shown(visible[0].points[0][0])}`) : chart(width, Math.round(Math.min(420, Math.max(250, width * 0.45))), visible, bands, { logX: state.logX, logY: state.logY,
      xlabel: unit[state.x] || state.x, ylabel: unit[state.y] || state.y, dots, title: `${state.y} along ${state.x}` });
    now.sentences = [...sentences, ...notes];
    now.legend = lines.map(([name], i) => [name, i]).filter(([name]) => !state.hidden.has(name));
    if (!now.x && !now.lines) { plot.replaceChildren(make("p", { class: "count" }, "nothing to draw here")); return; }
    plot.replaceChildren(now.svg);
    plot.style.minHeight = now.x ? "" : "0";
    if (!now.x) return;
    if (at !== null) read(at);
  }
  function read(place) {
    const here = now.lines.map((line) => [line, line.points.find((point) => point[0] === place)]).filter(([, point]) => point);
    if (!here.length) return;
    at = place;
    if (state.x === "size") below.show(at);
    now.svg.querySelectorAll(".cursor").forEach((node) => node.remove());
    now.svg.append(make("g", { class: "cursor" }, make("line", { x1: now.x.at(at), x2: now.x.at(at), y1: now.top, y2: now.bottom, stroke: "var(--ink)", "stroke-dasharray": "2 3" }),
      here.map(([line, point]) => make("circle", { cx: now.x.at(at), cy: now.y.at(point[1]), r: 3.5, fill: colour(line.i) }))));
    const sorted = here.sort((a, b) => (state.y === "bytes_a_cycle" ? b[1][1] - a[1][1] : a[1][1] - b[1][1]));
    const tip = make("div", { class: "tip" }, make("b", {}, `${state.x} ${shown(at)}`), sorted.map(([line, point]) => make("div", {}, `${line.name}: ${shown(point[1])}`)));
    tip.style[now.x.at(at) > width / 2 ? "right" : "left"] = `${(now.x.at(at) > width / 2 ? width - now.x.at(at) : now.x.at(at)) + 12}px`;
    plot.replaceChildren(now.svg, tip);
  }
  const places = () => different(now.lines.flatMap((line) => line.points.map((point) => point[0])));
  plot.addEventListener("pointermove", (event) => {
    if (!now || !now.x) return;
    const mouse = event.clientX - plot.getBoundingClientRect().left;
    read(places().reduce((best, place) => (Math.abs(now.x.at(place) - mouse) < Math.abs(now.x.at(best) - mouse) ? place : best)));
  });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !now || !now.x) return;
    event.preventDefault();
    const all_ = places();
    read(all_[Math.min(all_.length - 1, Math.max(0, (at === null ? -1 : all_.indexOf(at)) + step))]);
  });
  new ResizeObserver(() => { if (plot.clientWidth && Math.abs(plot.clientWidth - width) > 1) draw(); }).observe(plot);
  const plainName = part.name.replace(/[^\w.-]/g, "_");
  const picture = () => pictureOf(now.svg, now.legend, now.sentences);
  const downloads = make("span", {}, button("SVG", () => download(`${plainName}.svg`, "image/svg+xml", picture())),
    " ", button("PNG", () => pngOf(picture()).then((blob) => download(`${plainName}.png`, "image/png", blob))), " ", button("CSV", () => download(`${plainName}.csv`, "text/csv", [part.columns.map((column) => column.name), ...data.rows].map((row) => row.join(",")).join("\n") + "\n")));
  all();
  return make("div", {}, verdict, controls, make("div", { class: "bar" }, legend, downloads), plot, measurements, below.node);
}

// Who wins over two axes of a part under the chosen condition, from its own rows; along sizes at most MAP_WIDE of them.
const MAP_WIDE = 48;
function winners(data, x, y, chosen) {
  const routines = [...new Set(data.columns[data.index.routine])], cycles = data.index.cycles, cells = new Map();
  const rest = Object.entries(chosen).filter(([name]) => name !== x && name !== y);
  for (const row of data.rows) {
    if (rest.some(([name, value]) => row[data.index[name]] !== value)) continue;
    const key = JSON.stringify([row[data.index[x]], row[data.index[y]]]);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key)[routines.indexOf(row[data.index.routine])] = row[cycles];
  }
  const places = [...cells.keys()].map((key) => JSON.parse(key)), along = different(places.map(([a]) => a)), up = different(places.map(([, b]) => b));
  const every = Math.ceil(along.length / MAP_WIDE), kept = along.filter((_, i) => i % every === 0);
  const whole = (found) => (found && routines.every((_, i) => typeof found[i] === "number") ? found : null);
  return { routines, x: kept, y: up.map(String), xlabel: x === "size" ? "size (bytes)" : x, ylabel: y, refused: [], rows: up.map((b) => kept.map((a) => whole(cells.get(JSON.stringify([a, b]))))) };
}

// The chosen condition as the explorer takes it (its page's fragment); empty: it has no such question.
const CACHES = ["warm", "src-cold", "dst-cold", "cold", "src-l2", "dst-l2", "l2", "src-l2-dst-cold", "src-cold-dst-l2"];
function exploring(part, data, state) {
  const all = { ...part.constants, ...state.chosen }, sizes = data.columns[data.index.size].filter((value) => value > 0);
  const [machine, ...settings] = String(all.machine || "").split(/ (?=[\w.[\]]+=)/), routines = [...new Set(data.columns[data.index.routine])];
  const asked = machine && machine !== "native" && ["latency", "throughput"].includes(all.measure) && CACHES.includes(all.cache_state) && state.x === "size" && !state.also;
  if (!asked || routines.length > 8 || !sizes.length) return "";
  const swept = Object.entries(state.chosen).filter(([name]) => name.includes(".")).map(([name, value]) => `${name}=${value}`);
  const words = new URLSearchParams({ m: machine, r: routines.join(",") });
  for (const text of [...settings, ...swept]) words.append("set", text);
  const usual = { src: 0, dst: 0, cache: "warm", measure: "latency", least: 1, most: 2048 };
  const here = { src: all.src_offset ?? 0, dst: all.dst_offset ?? 0, cache: all.cache_state, measure: all.measure, least: sizes.reduce((a, b) => Math.min(a, b)), most: sizes.reduce((a, b) => Math.max(a, b)) };
  // The explorer draws a curve: of one size, those below it too.
  if (here.least === here.most) here.least = here.most >> 4;
  for (const [name, value] of Object.entries(here)) if (value !== usual[name]) words.set(name, value);
  return `breakeven explore '#${words.toString().replaceAll("%2C", ",").replaceAll("%3D", "=").replaceAll("%2F", "/")}'`;
}

// The tabs below a part's curves: why, pipeline and code are of the points that were looked into when the page was written.
let views = 0;
function viewsOf(part, data, state, choose) {
  const id = `${(views += 1)}-`, bar = make("div"), place = make("div", { id: `view-${id}`, class: "view", role: "tabpanel", tabindex: -1 });
  const axes = part.axes.filter((name) => name !== "routine"), pairs = axes.filter((name) => name !== axes[0]).map((name) => [axes[0], name]);
  if (axes.includes("src_offset") && axes.includes("dst_offset")) pairs.unshift(["src_offset", "dst_offset"]);
  const maps = pairs.filter(([x]) => typeof data.columns[data.index[x]][0] === "number"), routines = [...new Set(data.columns[data.index.routine])];
  let tab = "why", over = 0, shownPoint = null;
  // The nearest point that was looked into under the chosen condition; by default the first.
  function nearestPoint(at) {
    const same = (part.points || []).filter((point) => Object.entries(point.where).every(([name, value]) => !(name in state.chosen) || state.chosen[name] === value));
    return same.sort((a, b) => Math.abs(Math.log((a.size || 1) / (at || a.size || 1))) - Math.abs(Math.log((b.size || 1) / (at || b.size || 1))))[0] || null;
  }
  // Of the axes that are not chosen and not the map's: the size under the pointer, else the middle one; of others the first value.
  function rest(pair) {
    const sizes = different(data.columns[data.index.size]), near = (value) => Math.abs(Math.log((value || 1) / (at || Math.sqrt((sizes[0] || 1) * sizes[sizes.length - 1]))));
    return Object.fromEntries(axes.filter((name) => !pair.includes(name)).map((name) => [name, name === "size" ? sizes.reduce((best, value) => (near(value) < near(best) ? value : best)) : data.rows[0][data.index[name]]]));
  }
  const other = () => make("p", { class: "soft" }, "Nothing was kept here of this condition; there is: ", part.points.map((point) => [button(`${[...Object.entries(point.where).map(([name, value]) => `${name} ${shown(value)}`), `${point.size} B`].join(", ")}`, () => choose(point), { class: "quiet" }), " "]));
  // Of long cold calls one is simulated without those before it.
  const alone = (point) => (point.of.some((one) => one.alone) ? ` One call alone; the table's medians: ${point.of.filter((one) => one.alone).map((one) => `${one.routine} ${one.alone}`).join(", ")} cycles.` : "");
  const called = (point) => (point.of[0].calls ? `what ${point.of[0].calls} calls more take in a row` : "less an empty call");
  const TABS = {
    why: (point) => (point ? [make("p", { class: "soft" }, `One measurement of ${point.size} B, ${called(point)}. Each cycle is charged to what held up the next instruction.${alone(point)}`), accountView(point.of)] : [other()]),
    map: () => {
      const fixed = { ...rest(maps[over]), ...state.chosen }, grid = winners(data, ...maps[over], fixed);
      const of = Object.entries(fixed).filter(([name]) => !maps[over].includes(name)).map(([name, value]) => (name === "size" ? `${value} B` : `${name} ${shown(value)}`)).join(", ");
      const choice = maps.length > 1 ? select("over", maps.map(([x, y], i) => [`${x} and ${y}`, String(i)]), String(over), (value) => { over = Number(value); draw(true); }) : "";
      return [make("div", { class: "bar" }, choice, mapKeys(grid.routines)), make("p", { class: "soft" }, `${of ? `${of}; rows` : "Rows"}: ${grid.ylabel}. Cells: how many times faster the best is than the next.`), make("div", { class: "wide" }, mapOf(grid, grid.routines, Math.max(280, place.clientWidth - 4)))];
    },
    pipeline: (point) => {
      if (!point) return [other()];
      const panel = pipelinePanel();
      for (const one of point.of) if (one.pipeline) panel.add({ ...one.pipeline, routine: one.routine, size: point.size, whole: one.whole });
      if (!panel.found.length) panel.say("This core has no pipeline: O3CPU and MinorCPU have.");
      return [panel.node];
    },
    code: (point) => [make("div", { class: "columns" }, routines.filter((name) => data_.code[name]).map((name) => listingView(name, { ...data_.code[name], ...(point ? point.of.find((one) => one.routine === name) : {}) }, point ? `${point.size} B` : "")))],
  };
  const there = [part.points && part.points.length ? "why" : null, maps.length && routines.length > 1 ? "map" : null, part.points && part.points.some((point) => point.of.some((one) => one.pipeline)) ? "pipeline" : null, data_.code && routines.some((name) => data_.code[name]) ? "code" : null].filter(Boolean);
  const without = part.without ? make("p", { class: "count" }, `No account of cycles and no pipeline here. ${part.without}`) : "";
  if (!there.length) return { node: without, show: () => {} };
  [tab] = there;
  let at = null, last = "";
  const press = (name) => { tab = name; draw(true); };
  function draw(force = false) {
    shownPoint = nearestPoint(at);
    const key = JSON.stringify([tab, over, state.chosen, tab === "map" ? rest(maps[over]) : shownPoint && shownPoint.size]);
    if (!force && key === last) return;
    last = key;
    bar.replaceChildren(tabList(there.map((name) => [name, name]), () => tab, press, id));
    const command = exploring(part, data, state);
    place.replaceChildren(...TABS[tab](shownPoint), command ? make("p", { class: "count" }, "Every size and other parameters: ", make("code", {}, command)) : "");
  }
  return { node: make("div", { class: "views" }, bar, place, without), show: (size) => { at = size ?? at; draw(); } };
}

// Filled when it is opened: a study has dozens of tables.
function folded(title, fill) {
  const filled = () => { if (details.childElementCount === 1) details.append(...fill().filter(Boolean)); };
  const details = make("details", { ontoggle: () => { if (details.open) filled(); } }, make("summary", {}, title));
  details.addEventListener("print", filled);
  return details;
}
openOnPaper("details.part, details.count");

function section(part, open) {
  const data = unpack(part);
  const constants = Object.entries(part.constants).map(([name, value]) => `${name} ${shown(value)}`).join(", ");
  const inside = () => [make("p", { class: "count" }, constants), part.note ? make("p", {}, part.note) : null, figure(part, data),
    part.leads ? folded("What to ship, each condition", () => [table(part.leads.columns, part.leads.rows)]) : null,
    folded("Every point", () => [table(part.columns.map((column) => column.name), data.rows)])];
  const details = folded(part.about ? `${part.name}: ${part.about}` : part.name, inside);
  details.classList.add("part");
  details.open = open;
  return details;
}

// A further variant of a machine has only what differs from the first (`_once` of page.py).
function wholeMachine(item) {
  if (item.like === undefined) return item;
  const first = data_.machines[item.like], own = new Map(item.parameters);
  return { ...item, sections: item.sections.map((each, i) => each || first.sections[i]), parameters: first.parameters.map(([path, value]) => [path, own.has(path) ? own.get(path) : value]) };
}

function machine(packed) {
  const item = wholeMachine(packed);
  return folded(item.name, () => [make("p", {}, item.about + (item.hash ? `; hash ${item.hash}` : "")),
    item.marks ? make("p", { class: "count" }, `marks: ${item.marks}`) : null,
    ...(item.sections || []).map(([heading, lines]) => make("div", {}, make("b", {}, heading), make("pre", {}, lines.join("\n")))),
    item.parameters ? folded("Every parameter", () => [table(["path", "value"], item.parameters)]) : null]);
}

const data_ = await pageData();
byId("parts").append(...data_.parts.map((part, i) => section(part, i === 0)));
byId("machines").append(...data_.machines.map((item) => machine(item)));
