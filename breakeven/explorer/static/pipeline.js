// The micro-ops of one measurement over the cycles, at the size under the pointer.
function drawPipeline(place) {
  // As the address has them; whatever stands there, in the panel's own bounds.
  pipe.zoom = Math.min(40, Math.max(0.5, Number(view.zoom) || 6));
  pipe.from = Math.max(0, Math.floor(Number(view.from)) || 0);
  const panel = pipelinePanel(() => { Object.assign(view, { zoom: String(Number(pipe.zoom.toFixed(2))), from: String(pipe.from) }); keepFragment(); });
  place.replaceChildren(panel.node);
  return ask("pipeline", { size: viewSize() }, (line) => panel.add(line)).then((whole) => {
    if (whole || panel.found.length) return whole;
    panel.say(byId("trouble").textContent || "Nothing to show.");
    if (/has no pipeline/.test(byId("trouble").textContent)) trouble("");
    return whole;
  });
}
