// Draws the charts that the page describes as JSON, in the colours of the page.
"use strict";
{
  const colours = () => {
    const page = getComputedStyle(document.body);
    return {
      "font.color": page.color,
      "hoverlabel.font.color": page.color,
      "hoverlabel.bgcolor": page.backgroundColor,
      "modebar.color": page.color,
      "modebar.bgcolor": page.backgroundColor,
    };
  };

  // The library's legend answers to the mouse only: entry i stands for series i.
  const entries = (chart) => [...chart.querySelectorAll(".legendtoggle")];
  const openToKeyboard = (chart) => entries(chart).forEach((entry, i) => {
    const shown = chart.data[i].visible !== "legendonly";
    entry.setAttribute("tabindex", "0");
    entry.setAttribute("role", "switch");
    entry.setAttribute("aria-checked", shown);
    entry.setAttribute("aria-label", chart.data[i].name);
    entry.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      Plotly.restyle(chart, { visible: shown ? "legendonly" : true }, [i])
        .then(() => entries(chart)[i].focus());
    };
  });

  const charts = [...document.querySelectorAll(".chart")];
  for (const chart of charts) {
    const { data, layout } = JSON.parse(document.getElementById(chart.dataset.chart).textContent);
    // On a narrow screen the legend has a line for each series: the chart grows by as much.
    if (chart.clientWidth < 640) layout.height = 380 + 20 * data.length;
    Plotly.newPlot(chart, data, layout, {
      responsive: true,
      displaylogo: false,
      modeBarButtons: [["zoomIn2d", "zoomOut2d", "pan2d", "resetScale2d"]],
    }).then(() => {
      chart.on("plotly_afterplot", () => openToKeyboard(chart));
      Plotly.relayout(chart, colours());
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const chart of charts) Plotly.relayout(chart, colours());
  });
}
