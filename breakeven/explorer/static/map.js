// Who wins over size and a parameter, or over both offsets: a cell a point, by hue, hatching and the ratio in words.
const OFFSETS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 63];

function mapAxes() {
  const changed = state.settings.map(pathOf), list = machine.controls.filter((control) => control.main && (control.kind !== "number" || control.most > control.least));
  const first = list.filter((control) => changed.includes(control.path)), ranked = machine.ranked || new Map();
  const rest = list.filter((control) => !changed.includes(control.path)).sort((a, b) => (ranked.get(b.path) || 0) - (ranked.get(a.path) || 0));
  return [["both offsets", "offsets"], ...[...first, ...rest].map((control) => [`size and ${control.label}`, control.path])];
}

const offsetsTitle = (size) => `${size} B; rows: destination offset. Cells: how many times faster the best is than the next.`;

function drawMap(place) {
  // What it is over is known when the parameters are: it is drawn then.
  if (!machine.controls.length) { place.replaceChildren(); return null; }
  const axes = mapAxes();
  // Until one is chosen: the parameter that was changed.
  const over = axes.some(([, key]) => key === view.map) ? view.map : (axes[1] && state.settings.length ? axes[1] : axes[0])[1];
  const control = machine.controls.find((each) => each.path === over), grid = { x: [], y: [], rows: [] }, chartPlace = make("div", { class: "wide" });
  const title = make("p", { class: "soft" }, control ? `Rows: ${control.label}. Cells: how many times faster the best is than the next.` : offsetsTitle(viewSize()));
  place.replaceChildren(make("div", { class: "bar" }, data.live ? select("over", axes, over, (value) => { view.map = value; keepFragment(); refreshView(true); }) : "",
    mapKeys(state.routines)), title, chartPlace);
  if (state.routines.length < 2) { chartPlace.replaceChildren(make("p", {}, "A map needs two routines.")); return null; }
  const question = control ? { path: control.path, values: steps(control, 12) } : { size: viewSize(), offsets: OFFSETS };
  return ask("map", question, (line) => {
    if (line.x) {
      Object.assign(grid, line, { rows: [], refused: [] });
      if (!control) title.textContent = offsetsTitle(line.size ?? viewSize());
    }
    else { grid.rows[line.row] = line.cells; grid.refused[line.row] = line.refused || ""; chartPlace.replaceChildren(mapOf(grid, state.routines, Math.max(280, byId("view").clientWidth - 4))); }
  });
}
