// What stands below curves, on the report's page and the explorer's: where cycles went, who wins where, the pipeline, the code.
const GROUP_COLOURS = { retiring: "var(--w0)", "front end": "var(--w1)", "bad speculation": "var(--w2)", memory: "var(--w3)", execution: "var(--w4)", other: "var(--w5)" };
const REASONS = { frontEnd: "fetch and decode", fetchCache: "instruction cache", fetchTlb: "instruction TLB", badSpeculation: "mispredicted branches", replay: "memory-order replays",
  level1: "first-level cache", level2: "second-level cache", level3: "third-level cache", memory: "main memory", tlbWalk: "page walks", split: "line and page crossings", forwardFail: "failed forwarding",
  storeQueue: "store queue", execution: "latency", unit: "units taken", serialize: "serialising instructions, traps" };

// A bar for each routine, as long as its time, and the same as a table. accounts: [{routine, cycles, instructions, account}].
// What is below 0 (fences that overlap the call's work) has no part in the bar.
function accountView(accounts) {
  const longest = Math.max(...accounts.map((account) => account.cycles)), groups = Object.keys(GROUP_COLOURS);
  const bars = make("div", { class: "bars" }, accounts.map((account) => make("div", { class: "bar-row" },
    make("div", { class: "who" }, account.routine, make("small", {}, ` ${account.cycles} cycles, ${account.instructions} instructions (IPC ${shown(Number((account.instructions / account.cycles).toFixed(2)))})`)),
    make("div", { class: "stack", style: `width:${(100 * account.cycles) / longest}%` }, account.account.filter((line) => !line.reason && line.percent > 0).map((line, _, shares) =>
      make("span", { style: `width:${(100 * line.percent) / shares.reduce((sum, one) => sum + one.percent, 0)}%;background:${GROUP_COLOURS[line.group] || GROUP_COLOURS.other}`, title: `${line.group}: ${line.cycles.toFixed(1)} cycles, ${line.percent.toFixed(1)} %` },
        line.percent > 9 ? line.group : ""))))));
  const keys = [...new Map(accounts.flatMap((account) => account.account).map((line) => [`${line.group}/${line.reason || ""}`, line])).values()];
  keys.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || (a.reason ? 1 : 0) - (b.reason ? 1 : 0));
  return make("div", {}, bars, make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "cycles"), accounts.map((account) => make("th", {}, account.routine)))),
    make("tbody", {}, keys.map((key) => make("tr", { class: key.reason ? "inner" : "" },
      make("td", {}, key.reason ? "" : make("i", { class: "swatch", style: `background:${GROUP_COLOURS[key.group] || GROUP_COLOURS.other}` }), key.reason ? REASONS[key.reason] || key.reason : key.group),
      accounts.map((account) => {
        const line = account.account.find((other) => other.group === key.group && (other.reason || "") === (key.reason || ""));
        return make("td", { class: "number" }, line ? `${line.cycles.toFixed(1)}` : "");
      })))))));
}

function cellOf(cycles) {
  const order = cycles.map((value, i) => [value, i]).sort((a, b) => a[0] - b[0]), ratio = order.length > 1 ? order[1][0] / order[0][0] : 1;
  return { winner: ratio <= 1.01 ? -1 : order[0][1], ratio };
}

// grid: {x, y, xlabel, ylabel, rows: of each y the cycles of every routine at each x, refused: why a row is empty}.
function mapOf(grid, names, width) {
  const left = 74, cell = Math.min(60, (width - left - 6) / grid.x.length), high = Math.max(20, Math.min(30, cell)), numbers = cell >= 30;
  const svg = make("svg", { width, height: grid.y.length * high + 46, viewBox: `0 0 ${width} ${grid.y.length * high + 46}`, "font-size": 11, "font-family": "system-ui, sans-serif", role: "img", "aria-label": "who wins where" },
    make("defs", {}, make("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, make("line", { x1: 0, x2: 0, y1: 0, y2: 6, stroke: "var(--paper)", "stroke-width": 2, opacity: 0.5 }))));
  grid.rows.forEach((cells, row) => {
    const y = (grid.y.length - 1 - row) * high;
    const label = /^\d+ps$/.test(grid.y[row]) ? `${Number(grid.y[row].slice(0, -2)) / 1000} ns` : grid.y[row].replace(/B\/s$/, "");
    svg.append(make("text", { x: left - 6, y: y + high / 2 + 4, "text-anchor": "end", fill: "var(--ink)" }, label.length > 11 ? Number(label).toPrecision(3) : label));
    if (grid.refused && grid.refused[row]) svg.append(make("text", { x: left + 6, y: y + high / 2 + 4, fill: "var(--soft)" }, grid.refused[row].slice(0, 90)));
    (cells || []).forEach((cycles, i) => {
      if (!cycles) return;
      const { winner, ratio } = cellOf(cycles), x = left + i * cell, strength = winner < 0 ? 1 : Math.min(1, 0.35 + Math.log2(ratio) * 0.8);
      const says = `${grid.xlabel} ${grid.x[i]}, ${grid.ylabel} ${grid.y[row]}: ${winner < 0 ? "a tie" : `${names[winner]} by ×${ratio.toFixed(2)}`}\n${names.map((name, n) => `${name} ${shown(cycles[n])}`).join(", ")}`;
      svg.append(make("g", { class: "cell", "data-winner": winner }, make("title", {}, says),
        make("rect", { x: x + 0.5, y: y + 0.5, width: cell - 1, height: high - 1, fill: winner < 0 ? "var(--grid)" : colour(winner), opacity: strength }),
        winner === 1 ? make("rect", { x: x + 0.5, y: y + 0.5, width: cell - 1, height: high - 1, fill: "url(#hatch)" }) : null,
        numbers && winner >= 0 ? make("text", { x: x + cell / 2, y: y + high / 2 + 4, "text-anchor": "middle", fill: strength > 0.6 ? "var(--paper)" : "var(--ink)" }, ratio < 2 ? ratio.toFixed(2) : ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)) : null));
    });
  });
  const every = Math.ceil(30 / cell);
  svg.append(...grid.x.flatMap((value, i) => (i % every ? [] : [make("text", { x: left + (i + 0.5) * cell, y: grid.y.length * high + 15, "text-anchor": "middle", fill: "var(--ink)" }, size(value))])),
    make("text", { x: left + (grid.x.length * cell) / 2, y: grid.y.length * high + 36, "text-anchor": "middle", fill: "var(--ink)" }, grid.xlabel));
  return svg;
}

// Whose colour is whose, in a map.
function mapKeys(names) {
  return make("span", { class: "keys" }, names.map((name, i) => make("span", {}, make("i", { class: `swatch${i === 1 ? " hatched" : ""}`, style: `background-color:${colour(i)}` }), name)), make("span", {}, make("i", { class: "swatch", style: "background:var(--grid)" }), "tie"));
}

// A routine's instructions; `routine.by_address`: how often each ran in a measurement `of` a point, the cycles it held up.
function listingView(name, routine, of) {
  const cycles = routine.by_address, most = cycles ? Math.max(1, ...Object.values(cycles).map(([, held]) => held)) : 1;
  const note = routine.no_cycles ? `No cycles per instruction: ${routine.no_cycles}.` : cycles ? `${of}: times run, cycles for which each held up retirement${routine.whole ? "" : " (the trace is cut)"}.` : "";
  return make("div", {}, make("h3", {}, name), routine.text ? make("p", { class: "soft" }, routine.text) : null,
    routine.published && routine.published.length ? make("p", { class: "soft" }, `Published: ${routine.published.join("; ")}`) : null,
    note ? make("p", { class: "soft" }, note) : null,
    make("div", { class: "listing", tabindex: 0, role: "region", "aria-label": `listing of ${name}` }, make("table", {}, make("tbody", {}, routine.listing.map(([address, text]) => {
      const ran = cycles && cycles[`0x${address.toString(16)}`];
      return make("tr", ran ? {} : { class: cycles ? "unrun" : "" }, make("td", { class: "address" }, address.toString(16)),
        cycles ? make("td", { class: "number" }, ran ? `${ran[0]}×` : "") : null,
        cycles ? make("td", { class: "number heat", style: ran ? `--heat:${Math.round((100 * ran[1]) / most)}%` : "" }, ran ? String(ran[1]) : "") : null,
        make("td", { class: "text" }, text));
    })))));
}

// The micro-ops of a measurement over the cycles: a row each, from fetch to retirement.
const PHASES = [["front end", 0, 3, "var(--w1)"], ["waiting", 3, 4, "var(--w5)"], ["executing", 4, 5, "var(--w0)"], ["to retirement", 5, 6, "var(--w3)"]];
// Pixels of a cycle, and the first micro-op drawn: of every pipeline of the page.
const pipe = { zoom: 6, from: 0 };
const ROWS_DRAWN = 400, ROW = 15;

function phasesOf(stages) {
  return PHASES.map(([name, from, to, fill]) => {
    let begin = stages[from], end = stages[to];
    for (let i = from; begin === null && i < stages.length; i += 1) begin = stages[i];
    for (let i = to; end === null && i < stages.length; i += 1) end = stages[i];
    return [name, begin, end, fill];
  }).filter(([, begin, end]) => begin !== null && end !== null && end > begin);
}

// The stretch that is drawn: a later one than there is becomes the last.
const stretchOf = (traced) => Math.min(pipe.from, Math.floor((traced.ops.length - 1) / ROWS_DRAWN) * ROWS_DRAWN);

// Texts stay at the left and cycles on top while the bars are scrolled.
function pipelineOf(traced) {
  const rows = rowsOf(traced).slice(stretchOf(traced), stretchOf(traced) + ROWS_DRAWN), text = innerWidth < 600 ? 130 : 230;
  // What was fetched before the measurement begins at the left edge.
  const first = Math.max(0, rows.reduce((least, [, , stages]) => Math.min(least, stages[0]), Infinity)), last = rows.reduce((most, [, , stages]) => Math.max(most, stages[6]), 0);
  const x = (cycle) => (cycle - first) * pipe.zoom, width = x(last + 1) + 30, height = rows.length * ROW + 2;
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * pipe.zoom >= 46) || 2000, ticks = [];
  for (let cycle = Math.ceil(first / every) * every; cycle <= last; cycle += every) ticks.push(cycle);
  const canvas = (wide, high, ...inside) => make("svg", { width: wide, height: high, "font-size": 11, "font-family": "ui-monospace, monospace" }, ...inside);
  const says = ([address, words, stages]) => make("title", {}, `${address.toString(16)}  ${words}\n${traced.stages.map((stage, n) => `${stage} ${stages[n] === null ? "-" : stages[n]}`).join(", ")}`);
  const axis = canvas(width, 18, ticks.map((cycle) => make("text", { x: Math.max(x(cycle), 3.5 * String(cycle).length), y: 13, fill: "var(--soft)", "text-anchor": "middle" }, cycle)));
  const texts = canvas(text, height, rows.map((row, i) => make("g", {}, says(row), make("text", { x: 2, y: 12 + i * ROW, fill: "var(--ink)" }, row[1].slice(0, text / 6.8)))));
  const bars = canvas(width, height, ticks.map((cycle) => make("line", { x1: x(cycle), x2: x(cycle), y1: 0, y2: height, stroke: "var(--grid)" })),
    rows.map((row, i) => make("g", { class: "op" }, says(row), make("rect", { x: 0, y: i * ROW, width, height: ROW, fill: "transparent" }),
      phasesOf(row[2]).filter(([, , end]) => end > first).map(([, begin, end, fill]) => make("rect", { x: x(Math.max(begin, first)), y: i * ROW + 3, width: Math.max((end - Math.max(begin, first)) * pipe.zoom, 1), height: ROW - 4, fill })))));
  return make("div", { class: "lanes" }, make("div", { class: "corner" }, "cycle"), make("div", { class: "axis" }, axis), make("div", { class: "texts" }, texts), make("div", {}, bars));
}

// traced: {routine, size, cycles, whole, stages: names, texts: [address, text] of each instruction, ops: of each micro-op the
// number of its text, the cycle of its fetch, the cycles from there to each later stage; many: how many there were}.
function rowsOf(traced) {
  return traced.ops.map(([which, fetched, ...later]) => [...traced.texts[which], [fetched, ...later.map((cycles) => (cycles === null ? null : fetched + cycles))]]);
}

// `moved` hears of another zoom or stretch.
function pipelinePanel(moved = () => {}) {
  const found = [], charts = make("div"), stretch = make("span", { class: "stretch" });
  const heading = (traced) => {
    const from = stretchOf(traced), to = Math.min(from + ROWS_DRAWN, traced.ops.length);
    const part = to - from === traced.many ? "" : from ? `; ${from + 1} to ${to} drawn` : `; the first ${to} drawn`;
    return ` ${traced.size} B, ${traced.cycles} cycles, ${plural(traced.many, "micro-op")}${traced.whole ? "" : ", cut"}${part}`;
  };
  const go = (rows) => { pipe.from = Math.max(0, pipe.from + rows); moved(); draw(); };
  const draw = () => {
    const most = Math.max(...found.map((traced) => traced.ops.length));
    stretch.replaceChildren(...(most > ROWS_DRAWN ? [button("‹ earlier", () => go(-ROWS_DRAWN), { disabled: pipe.from === 0 }), button("later ›", () => go(ROWS_DRAWN), { disabled: pipe.from + ROWS_DRAWN >= most })] : []));
    charts.replaceChildren(...found.map((traced) => make("div", {}, make("h3", {}, traced.routine, make("small", {}, heading(traced))),
      make("div", { class: "pipeline", tabindex: 0, role: "region", "aria-label": `pipeline of ${traced.routine}` }, pipelineOf(traced)))));
  };
  const zoom = (factor) => {
    const places = [...charts.querySelectorAll(".pipeline")].map((place) => [place.scrollLeft / pipe.zoom, place.scrollTop]);
    pipe.zoom = Math.min(40, Math.max(0.5, pipe.zoom * factor));
    moved();
    draw();
    // What was in sight stays there.
    charts.querySelectorAll(".pipeline").forEach((place, i) => { if (places[i]) [place.scrollLeft, place.scrollTop] = [places[i][0] * pipe.zoom, places[i][1]]; });
  };
  charts.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.25 : 0.8); } }, { passive: false });
  charts.addEventListener("keydown", (event) => { if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8); });
  const node = make("div", {}, make("div", { class: "bar" }, make("span", { class: "keys" }, PHASES.map(([name, , , fill]) => make("span", {}, make("i", { class: "swatch", style: `background:${fill}` }), name))), stretch,
    make("span", {}, button("−", () => zoom(0.8), { "aria-label": "zoom out" }), button("+", () => zoom(1.25), { "aria-label": "zoom in" }))),
    make("p", { class: "soft" }, "Micro-ops of the right path. Cycle 0: the first reading of the cycle counter."), charts);
  return { node, found, add: (traced) => { found.push(traced); draw(); }, say: (text) => charts.replaceChildren(make("p", {}, text)) };
}

// Tabs [[name, text]] over one place; `chosen()` names the shown one, `press(name)` shows another.
function tabList(tabs, chosen, press, id) {
  const names = tabs.map(([name]) => name);
  const bar = make("div", { role: "tablist", "aria-label": "views" }, tabs.map(([name, text]) => button(text, () => press(name), { role: "tab", id: `tab-${id}${name}`, "aria-selected": String(chosen() === name), "aria-controls": `view${id ? `-${id}` : ""}`, tabindex: chosen() === name ? 0 : -1 })));
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    press(names[(names.indexOf(chosen()) + step + names.length) % names.length]);
    byId(`tab-${id}${chosen()}`).focus();
  });
  return bar;
}
