// Draws the charts that the page describes as JSON, in the colours of the page.
"use strict";
{
  const colours = (chart) => {
    const page = getComputedStyle(chart);
    return { "font.color": page.color, "hoverlabel.bgcolor": getComputedStyle(document.body).backgroundColor,
             "hoverlabel.font.color": page.color };
  };
  const charts = [...document.querySelectorAll(".chart")];
  for (const chart of charts) {
    const { data, layout } = JSON.parse(document.getElementById(chart.dataset.chart).textContent);
    Plotly.newPlot(chart, data, layout, {
      responsive: true,
      displaylogo: false,
      modeBarButtons: [["zoomIn2d", "zoomOut2d", "pan2d", "resetScale2d"]],
    }).then(() => Plotly.relayout(chart, colours(chart)));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const chart of charts) Plotly.relayout(chart, colours(chart));
  });
}
