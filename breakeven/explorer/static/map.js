// Who wins over size and a parameter, or over both offsets: a cell a point, by hue, hatching and the ratio in words.
const mapped = { axis: "" };
const OFFSETS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 63];

function mapAxes() {
  const changed = state.settings.map(pathOf), list = machine.controls.filter((control) => control.main && (control.kind !== "number" || control.most > control.least));
  const first = list.filter((control) => changed.includes(control.path)), ranked = machine.ranked || new Map();
  const rest = list.filter((control) => !changed.includes(control.path)).sort((a, b) => (ranked.get(b.path) || 0) - (ranked.get(a.path) || 0));
  return [["both offsets", "offsets"], ...[...first, ...rest].map((control) => [`size and ${control.label}`, control.path])];
}

function cellOf(cycles) {
  const order = cycles.map((value, i) => [value, i]).sort((a, b) => a[0] - b[0]), ratio = order.length > 1 ? order[1][0] / order[0][0] : 1;
  return { winner: ratio <= 1.01 ? -1 : order[0][1], ratio };
}

function mapOf(grid) {
  const width = Math.max(280, byId("view").clientWidth - 4), left = 74, cell = Math.min(60, (width - left - 6) / grid.x.length), high = Math.max(20, Math.min(30, cell)), numbers = cell >= 30;
  const svg = make("svg", { width, height: grid.y.length * high + 46, "font-size": 11, "font-family": "system-ui, sans-serif", role: "img", "aria-label": "who wins where" },
    make("defs", {}, make("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, make("line", { x1: 0, x2: 0, y1: 0, y2: 6, stroke: "var(--paper)", "stroke-width": 2, opacity: 0.5 }))));
  grid.rows.forEach((cells, row) => {
    const y = (grid.y.length - 1 - row) * high;
    const label = /^\d+ps$/.test(grid.y[row]) ? `${Number(grid.y[row].slice(0, -2)) / 1000} ns` : grid.y[row].replace(/B\/s$/, "");
    svg.append(make("text", { x: left - 6, y: y + high / 2 + 4, "text-anchor": "end", fill: "var(--ink)" }, label.length > 11 ? Number(label).toPrecision(3) : label));
    if (grid.refused && grid.refused[row]) svg.append(make("text", { x: left + 6, y: y + high / 2 + 4, fill: "var(--soft)" }, grid.refused[row].slice(0, 90)));
    (cells || []).forEach((cycles, i) => {
      const { winner, ratio } = cellOf(cycles), x = left + i * cell, strength = winner < 0 ? 1 : Math.min(1, 0.35 + Math.log2(ratio) * 0.8);
      const says = `${grid.xlabel} ${grid.x[i]}, ${grid.ylabel} ${grid.y[row]}: ${winner < 0 ? "a tie" : `${state.routines[winner]} by ×${ratio.toFixed(2)}`}\n${state.routines.map((name, n) => `${name} ${shown(cycles[n])}`).join(", ")}`;
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

function drawMap(place) {
  const axes = mapAxes();
  if (!axes.some(([, key]) => key === mapped.axis)) mapped.axis = (axes[1] && state.settings.length ? axes[1] : axes[0])[1];
  const control = machine.controls.find((each) => each.path === mapped.axis), grid = { x: [], y: [], rows: [] }, chartPlace = make("div", { class: "wide" });
  const title = make("p", { class: "soft" }, control ? `Rows: ${control.label}. Cells: how many times faster the best is than the next.` : `${viewSize()} B; rows: destination offset. Cells: how many times faster the best is than the next.`);
  place.replaceChildren(make("div", { class: "bar" }, data.live ? select("over", axes, mapped.axis, (value) => { mapped.axis = value; refreshView(true); }) : "",
    make("span", { class: "keys" }, state.routines.map((name, i) => make("span", {}, make("i", { class: `swatch${i === 1 ? " hatched" : ""}`, style: `background-color:${colour(i)}` }), name)), make("span", {}, make("i", { class: "swatch", style: "background:var(--grid)" }), "tie"))), title, chartPlace);
  if (state.routines.length < 2) { chartPlace.replaceChildren(make("p", {}, "A map needs two routines.")); return null; }
  const question = control ? { path: control.path, values: steps(control, 12) } : { size: viewSize(), offsets: OFFSETS };
  return ask("map", question, (line) => {
    if (line.x) Object.assign(grid, line, { rows: [], refused: [] });
    else { grid.rows[line.row] = line.cells; grid.refused[line.row] = line.refused || ""; chartPlace.replaceChildren(mapOf(grid)); }
  });
}
