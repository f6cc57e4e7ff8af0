"use strict";
(() => {
  /* common.js */

  // ---- Words

  const share = (part) => {
    const percent = (100 * part) / Math.max(data.points, 1);
    return `${percent === 0 ? 0 : percent < 1 ? percent.toPrecision(1) : percent.toFixed(percent < 10 ? 1 : 0)} %`;
  };
  const unitOfEps = data.eps_unit ? ` ${data.eps_unit}` : "";
  // Cells are choices of minpts and of eps, or of minpts and of the min_cluster_size of hierarchies.
  const ofTrees = data.min_cluster_size.length > 0;
  const across = ofTrees ? "min_cluster_size" : "eps";
  const columns = data[across];
  // A clustering in which each cluster has its own eps is no cell of the grid. Its eps is null.
  const hasOwnEps = (cell) => !ofTrees && cell.eps === null;
  const nameOf = (cell) => {
    const column = hasOwnEps(cell) ? "an eps for each cluster" : `${across} ${number(cell[across])}`;
    return `${column}${hasOwnEps(cell) || ofTrees ? "" : unitOfEps}, minpts ${cell.minpts}`;
  };
  const withSize = (cluster, size) => `cluster ${cluster} of ${count(size)} points`;
  const NO_CLUSTERS = "There are no clusters here.";
  const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
  const exact = (value) => String(value);

  // ---- The cells, and where they are

  const keyOf = (column, minpts) => `${column} ${minpts}`;
  const cellAt = new Map(data.cells.map((cell) => [keyOf(cell[across], cell.minpts), cell]));
  const cellOf = (offer) => cellAt.get(keyOf(offer[across], offer.minpts));
  for (const offer of data.advice ? [data.advice.recommended, ...data.advice.alternatives] : []) {
    if (offer && offer.eps_of_clusters) offer.eps = null;
  }
  const best = data.advice ? [data.advice.recommended, data.advice.one_eps] : [];
  const offered = data.advice ? [...best, ...data.advice.alternatives].filter(Boolean) : [];
  const markOf = (cell) => {
    const found = offered.find((offer) => offer.eps === cell.eps && offer.minpts === cell.minpts);
    if (!found) return "";
    return best.includes(found) ? "★" : "◆";
  };

  // ---- Data to take away

  function download(name, columns, rows) {
    const field = (value) => {
      const text = isNothing(value) ? "" : exact(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const text = [columns, ...rows].map((row) => row.map(field).join(",") + "\n").join("");
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  const fileOf = (what, cell) =>
    `${what}${cell ? `_${across}_${cell[across] ?? "each"}_minpts_${cell.minpts}` : ""}.csv`;
  const downloadButton = (what, cell, columns, rows) =>
    button("Data (CSV)", () => download(fileOf(what, cell), columns, rows()),
      `Data of ${what}${cell ? ` of ${nameOf(cell)}` : ""} as CSV`);

  // ---- What is packed: report/encoding.hpp

  function unpack(text) {
    const bytes = bytesOf(text);
    const values = [];
    for (let i = 0; i < bytes.length; ) {
      const control = bytes[i++];
      if (control < 128) {
        for (let k = 0; k <= control; ++k) values.push(bytes[i++]);
      } else {
        for (let k = 0; k < control - 126; ++k) values.push(bytes[i]);
        ++i;
      }
    }
    return values;
  }

  function unpackSet(text) {
    const bytes = bytesOf(text);
    const members = [];
    let at = 0;
    const next = () => {
      let value = 0;
      let factor = 1;
      while (bytes[at] >= 128) {
        value += (bytes[at++] - 128) * factor;
        factor *= 128;
      }
      return value + bytes[at++] * factor;
    };
    for (let member = 0; at < bytes.length; ) {
      member += next();
      for (let run = next(); run > 0; --run) members.push(member++);
    }
    return members;
  }

  /** The pixels of a plane that have points, where pixels of 2^level by 2^level are one. */
  function pixelsOf(plane, level) {
    plane.levels = plane.levels || {};
    if (!plane.levels[level]) {
      const pixelsAlong = (all) => ((all - 1) >> level) + 1;
      const width = pixelsAlong(plane.width);
      const pixelOf = (p) => (Math.floor(p / plane.width) >> level) * width + ((p % plane.width) >> level);
      const pixels = [...new Set(unpackSet(plane.occupied).map(pixelOf))].sort((a, b) => a - b);
      plane.levels[level] = { width, height: pixelsAlong(plane.height), pixels };
    }
    return plane.levels[level];
  }

  // ---- Colours: cividis for quantities; for clusters those of Okabe and Ito, again and again, by rank of size

  const ramp = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120],
    [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];
  function rampColour(part) {
    const position = Math.min(Math.max(part, 0), 1) * (ramp.length - 1);
    const low = Math.min(Math.floor(position), ramp.length - 2);
    return ramp[low].map((value, i) => Math.round(value + (ramp[low + 1][i] - value) * (position - low)));
  }
  const css = (rgb) => `rgb(${rgb.join(",")})`;
  const clusterColours = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233],
    [240, 228, 66]];
  const NOISE = 1;
  const FIRST = 2;
  const OTHER = 255;
  function colourOf(value) {
    if (value === NOISE) return dark.matches ? [85, 88, 92] : [196, 196, 196];
    if (value === OTHER) return dark.matches ? [168, 142, 210] : [112, 84, 160];
    const rank = value - FIRST;
    const base = clusterColours[rank % clusterColours.length];
    const turn = Math.floor(rank / clusterColours.length) % 3;
    return base.map((c) => Math.round(turn === 0 ? c : turn === 1 ? c * 0.62 : c + (255 - c) * 0.45));
  }
  function wordOf(value) {
    if (value === NOISE) return "noise";
    if (value === OTHER) return "a smaller cluster";
    return value === FIRST ? "the largest cluster" : `cluster ${value - FIRST + 1} by size`;
  }

  // ---- Recommendation

  function sentence(offer) {
    return {
      cell: nameOf(offer),
      finds: `It finds ${counted(offer.clusters, "cluster")}, the largest of ${counted(offer.largest, "point")}; ` +
        `${share(offer.noise)} of the points are noise.`,
      reason: `Why: ${offer.reason}.`,
      trust: `Confidence ${offer.confidence.toFixed(2)} of 1: so well did recommendations of this kind agree with ` +
        "the known clusters of labelled data sets (adjusted Rand index). It is no measurement of these data.",
    };
  }

  function writeAdvice() {
    const to = byId("advice");
    const advice = data.advice;
    if (!advice) {
      to.append(element("div", { class: "answer" },
        element("p", {}, "No recommendation was asked for: these are the results of parameters that were given."),
        data.advice_hint ? element("p", {}, "For a recommendation: ", element("code", {}, data.advice_hint)) : ""));
      return;
    }
    const offer = advice.recommended;
    if (offer) {
      const words = sentence(offer);
      to.append(
        element("div", { class: "answer" },
          element("p", {}, element("strong", {}, `★ Take ${words.cell}: ${counted(offer.clusters, "cluster")}.`)),
          element("p", {}, words.reason),
          element("p", {}, words.finds),
          element("p", {}, words.trust)));
    } else {
      to.append(element("p", { class: "answer" },
        element("strong", {}, "No cluster structure is seen in these points: nothing is recommended."),
        " The cell below is shown as an example."));
    }
    const found = advice.doubts.map((doubt) => element("li", {}, asSentence(doubt.text)));
    to.append(
      element("div", { class: found.length ? "doubts" : "doubts none" }, element("h3", {}, "What to doubt"),
        found.length
          ? element("ul", {}, ...found)
          : element("p", {}, "The checks (such as much noise, two scales, an answer that hangs on eps, too few " +
            "points) found nothing to object to. Whether the clusters mean something they cannot tell.")));
    const itemOf = (offer) => {
      const words = sentence(offer);
      const mark = offer === advice.one_eps ? "★" : "◆";
      return element("li", {},
        `${mark} ${words.cell}: ${offer.reason} (confidence ${offer.confidence.toFixed(2)}). ${words.finds} `,
        // The page has no map of other clusters with an eps each than the recommended ones.
        hasOwnEps(offer) ? null : button("Show", () => show(offer, true), `Show ${words.cell}`));
    };
    const listOf = (title, offers) => {
      if (!offers.length) return;
      to.append(
        element("div", { class: "others" }, element("h3", {}, title), element("ul", {}, ...offers.map(itemOf))));
    };
    listOf("DBSCAN at one eps", advice.one_eps ? [advice.one_eps] : []);
    listOf("Alternatives at other scales", advice.alternatives);
  }

  // ---- The grid

  const shareOf = (name, label) =>
    ({ name, label, of: (c) => c[name] / data.points, text: (v) => share(v * data.points) });
  const quantities = [
    { name: "clusters", label: "number of clusters", of: (c) => c.clusters, log: true, text: count },
    shareOf("noise", "noise"),
    shareOf("largest", "largest cluster"),
    shareOf("clustered", "clustered points"),
    shareOf("core", "core points"),
    { name: "score", label: "score of the recommendation", of: (c) => c.score, text: number },
    { name: "validity", label: "separation along eps (relative validity)", of: (c) => c.validity, text: number },
  ].filter((q) => data.cells.some((cell) => Number.isFinite(q.of(cell))));
  let quantity = quantities[0];
  const chosen = [null, null];
  let focus = null;
  const tds = new Map();

  const rows = [...data.minpts].reverse();  // small minpts at the bottom, as on an axis
  const counts = [across, "minpts", "clusters", "noise",
    ...(ofTrees ? ["clustered", "largest"] : ["core", "border", "largest", "score", "validity"])];

  function paintGrid() {
    const values = [...tds.keys()].map((cell) => quantity.of(cell)).filter(Number.isFinite);
    const lift = quantity.log ? (v) => Math.log10(v + 1) : (v) => v;
    const low = Math.min(...values);
    const high = Math.max(...values);
    const part = (v) => (high > low ? (lift(v) - lift(low)) / (lift(high) - lift(low)) : 0.5);
    for (const [cell, td] of tds) {
      const value = quantity.of(cell);
      const has = Number.isFinite(value);
      const colour = has ? rampColour(part(value)) : null;
      td.className = `cell${has ? "" : " none"}`;
      td.style.background = has ? css(colour) : "";
      td.style.color = has ? (part(value) > 0.5 ? "#000" : "#fff") : "";
      const mark = markOf(cell);
      const told = `${nameOf(cell)}: ${quantity.label} ${has ? quantity.text(value) : "none"}`;
      td.title = told;
      const advised = mark === "★" ? ", recommended" : mark ? ", alternative" : "";
      td.setAttribute("aria-label", told + advised + (cell.maps.length ? "" : ", no map"));
      td.textContent = mark;
    }
    const gradient = `background:linear-gradient(to right,${ramp.map(css).join(",")})`;
    byId("legend").replaceChildren(
      element("span", {}, `${quantity.text(low)} `,
        element("span", { class: "ramp", "aria-hidden": "true", style: gradient }),
        ` ${quantity.text(high)}${quantity.log ? " (log scale)" : ""}`),
      offered.length
        ? element("span", {}, data.advice.recommended ? "★ recommended" : "",
          data.advice.alternatives.length ? " ◆ alternative" : "")
        : "",
      downloadButton("grid", null, counts.map((name) => (name === "validity" ? "relative_validity" : name)),
        () => [...tds.keys()].map((cell) => counts.map((name) => cell[name]))));
    markChosen();
  }

  function markChosen() {
    for (const [cell, td] of tds) {
      td.classList.toggle("first", cell === chosen[0]);
      td.classList.toggle("second", cell === chosen[1]);
      td.setAttribute("aria-selected", String(chosen.includes(cell)));
      td.tabIndex = cell === focus ? 0 : -1;
    }
  }

  function makeGrid() {
    const table = element("table",
      { class: "grid", role: "grid", "aria-labelledby": "grid-heading", "aria-describedby": "grid-help" });
    const body = element("tbody");
    for (const minpts of rows) {
      const tr = element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, String(minpts)));
      for (const column of columns) {
        const cell = cellAt.get(keyOf(column, minpts));
        if (!cell) {
          const label = `no cell of ${across} ${number(column)}, minpts ${minpts}`;
          tr.append(element("td", { role: "gridcell", class: "none", "aria-label": label }));
          continue;
        }
        const td = element("td", { role: "gridcell", tabindex: "-1" });
        td.addEventListener("click", () => show(cell));
        tds.set(cell, td);
        tr.append(td);
      }
      body.append(tr);
    }
    const labels = columns.map((column) => element("th", { scope: "col", role: "columnheader" }, number(column)));
    const unit = unitOfEps && !ofTrees ? ` in${unitOfEps}` : "";
    table.append(element("caption", {}, `Rows: minpts. Columns: ${across}${unit}.`), body,
      element("tfoot", {}, element("tr", { role: "row" }, element("td", { role: "gridcell" }), ...labels)));
    table.addEventListener("keydown", moveInGrid);
    byId("grid").append(element("div", { class: "scroll" }, table));
    const select = byId("quantity");
    select.append(...quantities.map((q) => element("option", { value: q.name }, q.label)));
    select.addEventListener("change", () => {
      quantity = quantities.find((q) => q.name === select.value);
      paintGrid();
    });
  }

  function moveInGrid(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    const toEnd = event.key === "Home" || event.key === "End";
    if (!focus) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      show(focus);
      return;
    }
    if (!step && !toEnd) return;
    event.preventDefault();
    let column = columns.indexOf(focus[across]);
    let row = rows.indexOf(focus.minpts);
    let found = null;
    if (toEnd) {
      const there = columns.filter((value) => cellAt.has(keyOf(value, focus.minpts)));
      found = cellAt.get(keyOf(event.key === "Home" ? there[0] : there[there.length - 1], focus.minpts));
    }
    while (!found) {
      column += step[0];
      row += step[1];
      if (column < 0 || row < 0 || column >= columns.length || row >= rows.length) return;
      found = cellAt.get(keyOf(columns[column], rows[row]));
    }
    show(found);
    tds.get(found).focus();
  }

  // ---- One cell

  const box = { left: 70, right: 16, top: 10, bottom: 46 };
  /** Figures are drawn as wide as they are shown, so that letters keep their size. */
  const widthOf = (most) => Math.min(Math.max(document.documentElement.clientWidth - 32, 280), most);
  const MAP_WIDTH = 680;
  const FIGURE_WIDTH = 470;

  function ticksOf(from, to, most = 6) {
    const raw = (to - from) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((f) => f * power >= raw * 0.999);
    const ticks = [];
    const first = Math.ceil(from / step - 1e-9);
    for (let k = 0; k <= 2 * most && (first + k) * step <= to + step * 1e-9; ++k) ticks.push((first + k) * step);
    return ticks.map((t) => Number(t.toPrecision(12)));
  }
  function powersOf(from, to) {
    const ticks = [];
    for (let p = Math.floor(Math.log10(from)); p <= Math.ceil(Math.log10(to)); ++p) {
      for (const f of [1, 2, 5]) ticks.push(f * 10 ** p);
    }
    const inside = ticks.filter((t) => t >= from * 0.999 && t <= to * 1.001);
    const tens = inside.filter((t) => Number.isInteger(Number(Math.log10(t).toFixed(9))));
    return tens.length >= 3 ? tens : inside;
  }

  /** Gives the position from 0 to 1 on a logarithmic axis. */
  const onLog = (from, to) => (v) => Math.log(v / from) / Math.log(to / from);

  /** Axes around a field: x.position and y.position give the position in it, from 0 to 1. */
  function axes(width, height, x, y, label) {
    const inner =
      { x: box.left, y: box.top, width: width - box.left - box.right, height: height - box.top - box.bottom };
    const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    picture.append(drawn("rect", { class: "axis", x: inner.x, y: inner.y, width: inner.width, height: inner.height }));
    const bottom = inner.y + inner.height;
    for (const tick of x.ticks) {
      const at = inner.x + x.position(tick) * inner.width;
      const text = x.text ? x.text(tick) : exact(tick);
      picture.append(drawn("line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 5 }),
        drawn("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, text));
    }
    for (const tick of y.ticks) {
      const at = inner.y + (1 - y.position(tick)) * inner.height;
      picture.append(drawn("line", { class: "axis", x1: inner.x - 5, x2: inner.x, y1: at, y2: at }),
        drawn("text", { x: inner.x - 8, y: at + 4, "text-anchor": "end" }, y.text ? y.text(tick) : exact(tick)));
    }
    picture.append(drawn("text", { x: inner.x + inner.width / 2, y: height - 8, "text-anchor": "middle" }, x.label));
    if (y.label) {
      const middle = inner.y + inner.height / 2;
      const turned = { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` };
      picture.append(drawn("text", turned, y.label));
    }
    return { picture, inner };
  }

  function mapFigure(cell, side, planeNumber) {
    const plane = data.planes[planeNumber];
    const { width, height, pixels } = pixelsOf(plane, cell.level);
    const values = unpack(cell.maps[planeNumber]);
    const flat = plane.y.name === "";
    const TALLEST = 560;
    const room = widthOf(chosen[1] ? 560 : MAP_WIDTH) - box.left - box.right;
    const innerWidth =
      plane.to_scale && !flat ? Math.min(room, Math.max((TALLEST * plane.width) / plane.height, 80)) : room;
    const wide = innerWidth + box.left + box.right;
    const ratio = plane.to_scale ? plane.height / plane.width : 0.75;
    const innerHeight = flat ? 40 : Math.min(Math.max(innerWidth * ratio, 60), TALLEST);
    const high = innerHeight + box.top + box.bottom;
    const scale = (axis) => ({
      ticks: ticksOf(axis.from, axis.to), position: (v) => (v - axis.from) / (axis.to - axis.from),
      label: titled(axis) });
    const what = `Map of ${nameOf(cell)}: ${counted(cell.clusters, "cluster")}, ${share(cell.noise)} noise`;
    const { picture, inner } = axes(wide, high, scale(plane.x), flat ? { ticks: [] } : scale(plane.y), what);
    const canvas = element("canvas", { width, height, "aria-hidden": "true" });
    canvas.style.imageRendering = width > inner.width ? "auto" : "pixelated";
    canvas.style.left = `${(100 * inner.x) / wide}%`;
    canvas.style.width = `${(100 * inner.width) / wide}%`;
    canvas.style.top = `${(100 * inner.y) / high}%`;
    canvas.style.height = `${(100 * inner.height) / high}%`;
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    /** Draws the points; those of other clusters than `lit` (if there is one) as noise. */
    const paint = (lit) => {
      pixels.forEach((pixel, i) => {
        const at = 4 * ((height - 1 - Math.floor(pixel / width)) * width + (pixel % width));
        image.data.set([...colourOf(!lit || values[i] === lit ? values[i] : NOISE), 255], at);
      });
      context.putImageData(image, 0, 0);
    };
    paint(0);

    const pointed = quiet(" ");
    const valueAt = new Map(pixels.map((pixel, i) => [pixel, values[i]]));
    const along = (axis, part) => axis.from + part * (axis.to - axis.from);
    canvas.addEventListener("pointermove", (event) => {
      const x = event.offsetX / canvas.clientWidth;
      const y = 1 - event.offsetY / canvas.clientHeight;
      const column = Math.min(width - 1, Math.floor(x * width));
      const row = Math.min(height - 1, Math.floor(y * height));
      const value = valueAt.get(row * width + column);
      const coordinate = (axis, part) => `${axis.name} ${number(along(axis, part))}`;
      pointed.textContent = `${coordinate(plane.x, x)}${flat ? "" : `, ${coordinate(plane.y, y)}`}: ` +
        (value === undefined ? "no points" : wordOf(value));
      light(figure, value >= FIRST ? value : 0);
    });
    canvas.addEventListener("pointerleave", () => {
      pointed.textContent = " ";
      light(figure, 0);
    });
    const csv = () => pixels.map((pixel, i) => [
      along(plane.x, ((pixel % width) + 0.5) / width),
      ...(flat ? [] : [along(plane.y, (Math.floor(pixel / width) + 0.5) / height)]),
      values[i] === NOISE ? 0 : values[i] - FIRST + 1]);
    const figure = framedMap();
    figure.addEventListener("light", (event) => paint(event.detail));
    if (data.planes.length > 1) {
      const group = element("fieldset", {}, element("legend", {}, "Plane"));
      data.planes.forEach((other, i) => {
        const radio = element("input", { type: "radio", name: `plane-${side}`, checked: i === planeNumber });
        radio.addEventListener("change", () => {
          const made = mapFigure(cell, side, i);
          figure.replaceWith(made);
          made.querySelectorAll("input")[i].focus();
        });
        group.append(element("label", {}, radio, ` ${other.x.name}, ${other.y.name}`));
      });
      figure.append(group);
    }
    figure.append(
      element("div", { class: "plot", style: `max-width:${wide}px` }, picture, canvas), pointed,
      element("figcaption", {}, swatch(NOISE),
        "noise. Each other colour is a cluster, as in the table below; " +
          "with many clusters, smaller ones share colours. ",
        ...(cell.clusters > OTHER - FIRST ? [swatch(OTHER), `all but the ${OTHER - FIRST} largest. `] : []),
        "A pixel has the colour of most of its points. ",
        plane.note ? `${plane.note} ` : "",
        plane.to_scale || flat ? "" : element("strong", {}, "Not to scale: each axis is stretched to fit.")),
      downloadButton("map", cell, [plane.x.name, ...(flat ? [] : [plane.y.name]), "cluster_by_size"], csv));
    return figure;
  }

  /** Tells the other figures of the panel which cluster the pointer is at, by its value on maps; 0: none. */
  const light = (figure, value) =>
    figure.parentNode.querySelectorAll("figure").forEach((other) => {
      if (other !== figure) other.dispatchEvent(new CustomEvent("light", { detail: value }));
    });

  const quiet = (...children) => element("p", { class: "quiet" }, ...children);
  const figureOf = (title, ...children) => element("figure", {}, element("h4", {}, title), ...children);
  const framedMap = (...children) => element("figure", { class: "map" }, element("h4", {}, "Map"), ...children);
  const swatch = (value) =>
    element("span", { class: "swatch", style: `background:${css(colourOf(value))}`, "aria-hidden": "true" });

  function sizesFigure(cell) {
    const title = "Sizes of clusters";
    const bins = cell.sizes.map((clusters, k) => ({ clusters, from: 2 ** k, to: 2 ** (k + 1) }))
      .filter((bin) => bin.clusters > 0);
    if (!bins.length) {
      return figureOf(title, quiet(cell.clusters ? "The sizes of these clusters were not kept." : NO_CLUSTERS));
    }
    // One bin alone would fill the field.
    const from = bins[0].from / (bins.length < 3 && bins[0].from > 1 ? 2 : 1);
    const to = bins[bins.length - 1].to * (bins.length < 3 ? 2 : 1);
    const most = Math.max(...bins.map((bin) => bin.clusters));
    const top = Math.log10(most) + 0.15;
    const positionX = onLog(from, to);
    const positionY = (v) => (Math.log10(v) + 0.3) / (top + 0.3);
    const words = bins.map((bin) => `${count(bin.clusters)} of ${count(bin.from)} to ${count(bin.to - 1)} points`);
    const { picture, inner } = axes(widthOf(FIGURE_WIDTH), 230,
      { ticks: powersOf(from, to), position: positionX, text: count, label: "points of a cluster (log)" },
      { ticks: powersOf(1, most), position: positionY, text: count, label: "clusters (log)" },
      `Sizes of the clusters of ${nameOf(cell)}: ${words.join(", ")}`);
    for (const bin of bins) {
      const begin = positionX(bin.from) * inner.width;
      const width = Math.max(1, positionX(bin.to) * inner.width - begin - 2);
      const height = positionY(bin.clusters) * inner.height;
      const y = inner.y + inner.height - height;
      picture.append(drawn("rect", { class: "bar", x: inner.x + begin + 1, width, y, height }));
    }
    return figureOf(title, picture,
      downloadButton("sizes", cell, ["points_from", "points_to", "clusters"],
        () => bins.map((bin) => [bin.from, bin.to - 1, bin.clusters])));
  }

  /**
   * Draws clusters as bars between two eps: [number, points, from, to]. Returns the picture, its field and the position
   * of an eps.
   */
  function drawBars(cell, from, to, bars, label) {
    const position = onLog(from, to);
    const step = 16;
    const { picture, inner } = axes(widthOf(FIGURE_WIDTH), bars.length * step + box.top + box.bottom + 6,
      { ticks: powersOf(from, to), position, text: number, label: `eps${unitOfEps} (log), at minpts ${cell.minpts}` },
      { ticks: [] }, label);
    const at = (eps) => inner.x + position(eps) * inner.width;
    bars.forEach(([cluster, size, begin, end], i) => {
      const y = inner.y + 3 + i * step;
      const x = at(begin);
      const width = Math.max(2, at(end) - x);
      picture.append(drawn("rect", { x, width, y: y + 1, height: step - 4, fill: css(colourOf(FIRST + i)) }),
        drawn("text", { x: inner.x - 6, y: y + 11, "text-anchor": "end", style: "font-size:10px" },
          `${cluster}: ${count(size)}`));
    });
    return { picture, inner, at };
  }

  function persistenceFigure(cell) {
    const title = "Persistence of the largest clusters along eps";
    if (!cell.bars || data.eps.length < 2) {
      return figureOf(title, quiet(data.has_lineage
        ? "One eps alone shows no persistence."
        : "How long clusters persist is not known of these results: sweep with --lineage, or explore."));
    }
    if (!cell.bars.length) return figureOf(title, quiet(NO_CLUSTERS));
    const to = data.eps[data.eps.length - 1];
    const bars = cell.bars.map(([cluster, size, birth, death]) => [cluster, size, birth, death ?? to]);
    const words = cell.bars.map(([cluster, size, birth, death]) =>
      `${withSize(cluster, size)} from ${number(birth)} ${death === null ? "to the end" : `to ${number(death)}`}`);
    const { picture, inner, at } = drawBars(cell, data.eps[0], to, bars,
      `Persistence along eps of the largest clusters of ${nameOf(cell)}: ${words.join("; ")}`);
    const here = at(cell.eps);
    picture.append(drawn("line", { class: "here", x1: here, x2: here, y1: inner.y, y2: inner.y + inner.height }));
    return figureOf(title, picture,
      element("figcaption", {}, "A bar is a cluster, with its number and its points in this cell. It begins at the " +
        "eps at which the cluster appears, and ends where it merges with one that appeared at a smaller eps; a bar " +
        "that reaches the right edge lasts to the end of the grid. The dashed line is this cell."),
      downloadButton("persistence", cell, ["cluster", "points", "eps_from", "eps_to"], () => cell.bars));
  }

  function ownEpsFigure(cell) {
    const own = cell.own_eps;
    const all = [...data.eps, ...own.map(([, , eps]) => eps)];
    const from = Math.min(...all) / 1.2;
    const title = "The eps of the largest clusters";
    const words = own.map(([cluster, size, eps]) => `${withSize(cluster, size)} ${number(eps)}`);
    const bars = own.map(([cluster, size, eps]) => [cluster, size, from, eps]);
    const { picture } = drawBars(cell, from, Math.max(...all), bars, `${title}: ${words.join("; ")}`);
    return figureOf(title, picture,
      element("figcaption", {}, "A bar is a cluster, with its number and its points; its length is the eps of the " +
        "cluster. Core points of a cluster are connected at this eps, and its border points lie within it. No single " +
        "eps shows all of these clusters."),
      downloadButton("eps", cell, ["cluster", "points", "eps"], () => own));
  }

  function treeFigure(cell) {
    const figure = figureOf("Tree of clusters");
    const ends = (cell.tree || []).flatMap((c) => c.steps.map(([eps]) => eps)).filter((eps) => eps > 0);
    if (!ends.length) {
      figure.append(quiet(cell.tree ? "All points are equal." : "The tree is not in the folder."));
      return figure;
    }
    const from = Math.min(...ends) / 1.02;
    const to = Math.max(...ends) * 1.1;
    const position = (eps) => onLog(from, to)(Math.min(Math.max(eps === null ? to : eps, from), to));
    const whole = cell.tree[0].size;
    const words = cell.tree.filter((c) => c.value)
      .map((c) => `${withSize(c.label, c.size)} from eps ${number(c.birth)} to ${number(c.death)}`);
    const { picture, inner } = axes(widthOf(FIGURE_WIDTH), 330,
      { ticks: ticksOf(0, whole, 4), position: (v) => v / whole, text: count, label: "points" },
      { ticks: powersOf(from, to), position, text: number, label: `eps${unitOfEps} (log)` },
      `Tree of the clusters of ${nameOf(cell)}; selected: ${words.join("; ")}`);
    const x = (points) => inner.x + (points / whole) * inner.width;
    const y = (eps) => inner.y + (1 - position(eps)) * inner.height;
    const total = (clusters) => clusters.reduce((sum, c) => sum + c.size, 0);
    const shapes = [];
    for (const c of cell.tree) {
      // Children are side by side, in the middle of their parent.
      const parent = c.parent === null ? null : cell.tree[c.parent];
      const family = parent === null ? [c] : cell.tree.filter((other) => other.parent === c.parent);
      if (parent === null) c.left = 0;
      else c.left = parent.left + (parent.size - total(family)) / 2 + total(family.slice(0, family.indexOf(c)));
      const middle = c.left + c.size / 2;
      let size = c.size;
      const sides = [[size, y(c.birth)]];
      for (const [eps, next] of c.steps) {
        sides.push([size, y(eps)]);
        if (next > 0) sides.push([next, y(eps)]);
        size = next;
      }
      const edge = (sign) => sides.map(([width, at]) => `${x(middle + (sign * width) / 2)},${at}`);
      const points = [...edge(-1), ...edge(1).reverse()].join(" ");
      const kind = c.value ? { class: "selected", points, fill: css(colourOf(c.value)) } : { class: "branch", points };
      const shape = drawn("polygon", kind,
        drawn("title", {}, `${c.value ? `cluster ${c.label}: ` : ""}${counted(c.size, "point")}, ` +
          `eps ${c.birth === null ? "" : `${number(c.birth)} `}to ${number(c.death)}`));
      shape.addEventListener("pointerenter", () => light(figure, c.value));
      shape.addEventListener("pointerleave", () => light(figure, 0));
      shapes.push([c, shape]);
      picture.append(shape);
    }
    figure.addEventListener("light", (event) => shapes.forEach(([c, shape]) =>
      shape.classList.toggle("lit", Boolean(event.detail) && c.value === event.detail)));
    const drawnOf = `Drawn are the ${cell.tree.length} largest of ${counted(cell.tree_clusters, "cluster")}.`;
    figure.append(picture,
      element("figcaption", {}, "From a large eps down, a cluster loses points, and splits into those below it. " +
        "Coloured with a frame: the selected clusters, as on the map; the pointer on one marks it in both.",
        cell.tree.length < cell.tree_clusters ? ` ${drawnOf}` : ""),
      downloadButton("tree", cell, ["row", "parent", "eps_from", "eps_to", "points", "label"],
        () => cell.tree.map((c, i) => [i, c.parent, c.birth, c.death, c.size, c.label])));
    return figure;
  }

  function catalogue(cell) {
    const rows = cell.rows;
    const section = element("div", {}, element("h4", {}, "Clusters"));
    const hint =
      data.catalogue_hint.replace(`{${across}}`, exact(cell[across])).replace("{minpts}", exact(cell.minpts));
    if (rows.length) {
      const head = data.catalogue.map((column) => element("th", { scope: "col" }, titled(column)));
      const body = rows.map(([cluster, size, ...values], i) => element("tr", {},
        element("th", { scope: "row" }, swatch(FIRST + i), exact(cluster)),
        element("td", {}, count(size)), ...values.map((value) => element("td", {}, number(value)))));
      section.append(
        element("div", { class: "table", tabindex: "0", role: "region", "aria-label": `Clusters of ${nameOf(cell)}` },
          element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body))));
    }
    const left = cell.clusters - rows.length;
    const fewerDims = data.shown_dims < data.dims;
    const words = [];
    if (left > 0 && rows.length) {
      words.push(`The ${count(rows.length)} largest of ${counted(cell.clusters, "cluster")}; ` +
        `${counted(left, "smaller one")} ${left === 1 ? "is" : "are"} left out.`);
    } else if (left > 0) {
      words.push("The labels of this cell were not kept, so its clusters are not listed.");
    }
    if (rows.length && fewerDims) words.push(`The first ${data.shown_dims} of ${data.dims} coordinates.`);
    if (!cell.clusters) words.push(NO_CLUSTERS);
    section.append(quiet(words.join(" ")));
    if (hint && !hasOwnEps(cell) && cell.clusters && (left > 0 || fewerDims)) {
      section.append(quiet("All of them: ", element("code", {}, hint)));
    }
    if (rows.length) section.append(downloadButton("clusters", cell, data.catalogue.map(titled), () => rows));
    return section;
  }

  function panelOf(cell, side) {
    const mark = markOf(cell);
    const order = data.cells.length > 1 && chosen[1] ? (side === 0 ? "First: " : "Second: ") : "";
    const panel = element("section", { class: "panel", "aria-labelledby": `cell-${side}` },
      element("h3", { id: `cell-${side}` }, `${order}${mark ? `${mark} ` : ""}${nameOf(cell)}`),
      element("p", {}, `${counted(cell.clusters, "cluster")}; ` +
        `${share(cell.noise)} noise (${counted(cell.noise, "point")}); ` +
        `largest ${counted(cell.largest, "point")} (${share(cell.largest)})` +
        `${ofTrees ? "" : `; ${share(cell.core)} core points`}.`));
    const map = cell.maps.length
      ? mapFigure(cell, side, 0)
      : framedMap(quiet(cell.rows.length
        ? "The page has no room for the maps of so many cells."
        : "The labels of this cell were not kept, so there is no map."));
    const along = ofTrees ? treeFigure(cell) : hasOwnEps(cell) ? ownEpsFigure(cell) : persistenceFigure(cell);
    panel.append(element("div", { class: "figures" }, map, sizesFigure(cell), along), catalogue(cell));
    return panel;
  }

  function drawPanels() {
    const panels = byId("panels");
    panels.replaceChildren(...chosen.map((cell, side) => (cell ? panelOf(cell, side) : null)).filter(Boolean));
    panels.classList.toggle("two", Boolean(chosen[1]));
  }

  /** Shows a cell, or the cell of an offer, on the side that clicks are for. */
  function show(of, jump = false) {
    const cell = cellOf(of);
    if (!cell) return;
    const side = byId("compare").checked ? Number(document.querySelector("input[name=side]:checked").value) : 0;
    chosen[side] = cell;
    if (tds.has(cell) || !focus) focus = tds.has(cell) ? cell : [...tds.keys()][0];
    markChosen();
    drawPanels();
    byId("status").textContent = `Shown below: ${chosen.filter(Boolean).map(nameOf).join(" and ")}`;
    if (jump) byId("panels").scrollIntoView({ block: "start" });
  }

  function compare() {
    const on = byId("compare").checked;
    byId("sides").hidden = !on;
    if (on) {
      // The best alternative, or else the next column.
      const column = columns.indexOf(chosen[0][across]);
      const near = [column + 1, column - 1].map((i) => cellAt.get(keyOf(columns[i], chosen[0].minpts)));
      const other = data.advice && data.advice.alternatives.find((offer) => !hasOwnEps(offer));
      chosen[1] = (other && cellOf(other)) || near.find(Boolean) || chosen[0];
      document.querySelector("input[name=side][value='1']").checked = true;
    } else {
      chosen[1] = null;
    }
    markChosen();
    drawPanels();
  }

  // ---- Where it comes from

  const terms = (pairs) => pairs.flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]);

  function writeOrigin() {
    byId("origin").append(...terms(data.provenance));
    if (!data.command) return;
    byId("again").append(element("h3", {}, "The same again"), element("pre", {}, element("code", {}, data.command)));
  }

  document.title = `${data.title} – report of epsflow`;
  byId("title").textContent = data.title;
  const choices = data.cells.filter((cell) => !hasOwnEps(cell)).length;
  byId("subject").textContent = `${counted(data.points, "point")} in ${counted(data.dims, "dimension")}, ` +
    `clustered by ${ofTrees ? "HDBSCAN*" : "DBSCAN"} with ${counted(choices, "choice")} of ${across} and minpts; ` +
    `distance: ${data.metric}.`;
  if (ofTrees) {
    byId("grid-help").textContent = byId("grid-help").textContent.replace("eps", "min_cluster_size");
    byId("words").replaceChildren(...terms([
      ["minpts", "the number of points within eps, the point itself included, from which on a point is core"],
      ["tree", "the clusters of core points of all eps at this minpts, in each other"],
      ["min_cluster_size", "the size from which on a part of a cluster that splits is a cluster of its own"],
      ["cluster", "a part of the tree from its birth, the eps at which it separates from others, down to its death, " +
        "at which it splits or ends"],
      ["selected", "said of the clusters on the map: by default those of the largest total stability (excess of " +
        "mass), none in another"],
      ["noise", "points in none of the clusters that are selected in the tree"]]));
  }
  writeAdvice();
  writeOrigin();
  if (data.cells.length) {
    makeGrid();
    paintGrid();
    const worth = (cell) => (cell.maps.length ? 1e9 : 0) + (cell.validity || 0) * 1e6 + Math.min(cell.clusters, 1e5);
    show(offered.find(cellOf) || data.cells.reduce((a, b) => (worth(b) > worth(a) ? b : a)));
    byId("compare").addEventListener("change", compare);
    dark.addEventListener("change", drawPanels);
    let width = widthOf(MAP_WIDTH);
    window.addEventListener("resize", () => {
      if (widthOf(MAP_WIDTH) === width) return;
      width = widthOf(MAP_WIDTH);
      drawPanels();
    });
  }
})();
