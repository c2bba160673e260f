// The micro-ops of one measurement over the cycles, at the size under the pointer.
function drawPipeline(place) {
  const panel = pipelinePanel();
  place.replaceChildren(panel.node);
  return ask("pipeline", { size: viewSize() }, (line) => panel.add(line)).then((whole) => {
    if (whole || panel.found.length) return;
    panel.say(byId("trouble").textContent || "Nothing to show.");
    if (/has no pipeline/.test(byId("trouble").textContent)) trouble("");
  });
}
