// The micro-ops of one measurement over the cycles: a row each, from fetch to retirement.
const PHASES = [["front end", 0, 3, "var(--w1)"], ["waiting", 3, 4, "var(--w5)"], ["executing", 4, 5, "var(--w0)"], ["to retirement", 5, 6, "var(--w3)"]];
const pipe = { zoom: 6 };
const ROWS_DRAWN = 400, ROW = 15;

function phasesOf(stages) {
  return PHASES.map(([name, from, to, fill]) => {
    let begin = stages[from], end = stages[to];
    for (let i = from; begin === null && i < stages.length; i += 1) begin = stages[i];
    for (let i = to; end === null && i < stages.length; i += 1) end = stages[i];
    return [name, begin, end, fill];
  }).filter(([, begin, end]) => begin !== null && end !== null && end > begin);
}

function pipelineOf(traced) {
  const rows = traced.rows.slice(0, ROWS_DRAWN), most = Math.max(...rows.map(([, , stages]) => stages[6])), text = innerWidth < 600 ? 130 : 230;
  const width = text + (most + 1) * pipe.zoom + 10, height = rows.length * ROW + 24;
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * pipe.zoom >= 46) || 2000;
  const svg = make("svg", { width, height, "font-size": 11, "font-family": "ui-monospace, monospace", role: "img", "aria-label": `pipeline of ${traced.routine}` });
  for (let cycle = 0; cycle <= most; cycle += every) {
    const x = text + cycle * pipe.zoom;
    svg.append(make("line", { x1: x, x2: x, y1: 18, y2: height, stroke: "var(--grid)" }), make("text", { x, y: 12, fill: "var(--soft)", "text-anchor": "middle" }, cycle));
  }
  rows.forEach(([address, says, stages], i) => {
    const y = 20 + i * ROW;
    svg.append(make("g", {}, make("title", {}, `${address.toString(16)}  ${says}\n${traced.stages.map((stage, n) => `${stage} ${stages[n] === null ? "-" : stages[n]}`).join(", ")}`),
      make("rect", { x: 0, y, width, height: ROW, fill: "transparent" }),
      make("text", { x: 2, y: y + 11, fill: "var(--ink)" }, says.slice(0, text / 6.8)),
      phasesOf(stages).map(([, begin, end, fill]) => make("rect", { x: text + begin * pipe.zoom, y: y + 2, width: Math.max((end - begin) * pipe.zoom, 1), height: ROW - 4, fill }))));
  });
  return svg;
}

function drawPipeline(place) {
  const at = viewSize(), found = [], charts = make("div");
  const draw = () => charts.replaceChildren(...found.map((traced) => make("div", {}, make("h3", {}, traced.routine, make("small", {}, ` ${traced.size} B, ${traced.cycles} cycles, ${plural(traced.rows.length, "micro-op")}${traced.whole ? "" : ", cut"}${traced.rows.length > ROWS_DRAWN ? `; the first ${ROWS_DRAWN} drawn` : ""}`)),
    make("div", { class: "pipeline", tabindex: 0, role: "region", "aria-label": `pipeline of ${traced.routine}` }, pipelineOf(traced)))));
  const zoom = (factor) => { pipe.zoom = Math.min(40, Math.max(0.5, pipe.zoom * factor)); draw(); };
  charts.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.25 : 0.8); } }, { passive: false });
  charts.addEventListener("keydown", (event) => { if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8); });
  place.replaceChildren(make("div", { class: "bar" }, make("span", { class: "keys" }, PHASES.map(([name, , , fill]) => make("span", {}, make("i", { class: "swatch", style: `background:${fill}` }), name))),
    make("span", {}, button("−", () => zoom(0.8), { "aria-label": "zoom out" }), button("+", () => zoom(1.25), { "aria-label": "zoom in" }))), charts);
  return ask("pipeline", { size: at }, (line) => { found.push(line); draw(); }).then((whole) => {
    if (!whole && !found.length) charts.replaceChildren(make("p", {}, byId("trouble").textContent || "Nothing to show."));
    if (!whole && !found.length && /has no pipeline/.test(byId("trouble").textContent)) trouble("");
  });
}
