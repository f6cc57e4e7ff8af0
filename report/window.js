"use strict";
(() => {
  /* common.js */

  const RELOAD_SECONDS = 3;
  const QUIET_SECONDS = 60;
  const timeOf = (time) => {
    if (time === null || !data.dates) return time === null ? "–" : String(time);
    return new Date(time * 1000).toISOString().slice(0, 19).replace("T", " ") + (data.zone ? " UTC" : "");
  };
  const list = (ids) =>
    ids.length === 1 ? `cluster ${ids[0]}` : `clusters ${ids.slice(0, -1).join(", ")} and ${ids[ids.length - 1]}`;
  // A colour depends on the id alone. Both levels of lightness can be told from a light and from a dark ground.
  const colourOf = (id) => `oklch(${[0.62, 0.56, 0.67][id % 3]} 0.15 ${((id * 137.508) % 360).toFixed(1)})`;

  // ---- The state, and reloading

  const ifAny = (value, word) => (value ? `, ${count(value)} ${word}` : "");
  byId("now").textContent = data.steps === 0
    ? "No step yet."
    : `Last step: ${timeOf(data.time)} (step ${count(data.steps - 1)}). ` +
      `${counted(data.points, "point")} in the window, ${counted(data.clusters, "cluster")}; ` +
      `${count(data.late)} of ${counted(data.rows, "row")} late` +
      `${ifAny(data.skipped, "skipped")}${ifAny(data.unused, "unused")}.`;
  const written = new Date(document.lastModified);
  const state = (text) => { byId("state").textContent = `${text} Written ${written.toLocaleTimeString()}.`; };
  if (data.running) {
    const timer = setTimeout(() => location.reload(), RELOAD_SECONDS * 1000);
    const quiet = Date.now() - written > QUIET_SECONDS * 1000;
    const word = quiet
      ? "No step for a while: the watch waits for rows, works on a long step, or was ended from outside."
      : "The watch is running.";
    state(`${word} This page reloads every ${RELOAD_SECONDS} seconds.`);
    byId("pause").append(button("Stay at this step", (event) => {
      clearTimeout(timer);
      event.target.remove();
      state("Reload the page to go on.");
    }));
  } else {
    state("The watch has ended.");
  }

  // ---- The points

  function pointsOf() {
    const view = new DataView(bytesOf(data.drawn).buffer);
    const points = [];
    for (let at = 0; at < view.byteLength; at += 8) {
      const index = view.getUint32(at + 4, true);
      const part = (offset) => view.getUint16(at + offset, true) / 65535;
      points.push({ x: part(0), y: 1 - part(2), id: index ? data.ids[index - 1] : null });
    }
    return points;
  }
  const points = pointsOf();

  function drawMap() {
    const canvas = byId("map");
    const [x, y] = data.axes;
    const ratio = y ? ((x.to - x.from) * data.x_per_y) / (y.to - y.from) : 8;
    const shape = ratio > 0.125 && ratio <= 8 ? ratio : 1.5;
    const sharp = window.devicePixelRatio || 1;
    const width = shape > 1.3 ? 780 : 600 * shape;
    const height = width / shape;
    canvas.width = width * sharp;
    canvas.height = height * sharp;
    canvas.style.width = `${width}px`;
    const style = getComputedStyle(document.documentElement);
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    const margin = 8;
    const at = (point) => [margin + point.x * (width - 2 * margin), margin + point.y * (height - 2 * margin)];
    const middles = new Map();
    for (const noise of [true, false]) {
      const side = noise ? 2 : 3;
      pen.fillStyle = style.getPropertyValue("--noise");
      for (const point of points) {
        if ((point.id === null) !== noise) continue;
        const [left, top] = at(point);
        if (!noise) {
          pen.fillStyle = colourOf(point.id);
          const sum = middles.get(point.id) || [0, 0, 0];
          middles.set(point.id, [sum[0] + left, sum[1] + top, sum[2] + 1]);
        }
        pen.fillRect(left - side / 2, top - side / 2, side, side);
      }
    }
    // The ids of the largest clusters stand at the middle of their points.
    Object.assign(pen, {
      font: "bold 14px system-ui, sans-serif", textAlign: "center", textBaseline: "middle",
      lineWidth: 4, lineJoin: "round",
      strokeStyle: style.getPropertyValue("--plot"), fillStyle: style.getPropertyValue("--ink") });
    for (const [id] of data.table.slice(0, 30)) {
      const sum = middles.get(id);
      if (!sum) continue;
      const middle = [sum[0] / sum[2], sum[1] / sum[2]];
      pen.strokeText(id, ...middle);
      pen.fillText(id, ...middle);
    }
    const range = (axis, where) => `${titled(axis)} ${where} from ${number(axis.from)} to ${number(axis.to)}`;
    const drawnOf = `${count(points.length)} of ${count(data.points)}`;
    byId("map-text").textContent = range(x, "to the right") + (y ? `, ${range(y, "upwards")}` : "") +
      `${shape === ratio || !y ? "" : ", not to scale"}. ` +
      (data.every > 1 ? `One of ${data.every} points is drawn, evenly by row: ${drawnOf}. ` : "") +
      "Numbers are the ids of clusters; small grey points are noise.";
    canvas.setAttribute("aria-label",
      `${counted(data.points, "point")} in ${counted(data.clusters, "cluster")}, whose table is below`);
  }
  drawMap();
  dark.addEventListener("change", drawMap);

  // ---- The lives of clusters

  /** Gives each cluster a lane that is free, near that of the cluster which it was split from. */
  function lanesOf(lives, origins) {
    const ends = [];
    for (const life of [...lives.values()].sort((a, b) => a.first - b.first || a.id - b.id)) {
      const parent = lives.get(origins.get(life.id));
      const wanted = parent && parent.lane !== undefined ? parent.lane : 0;
      const free = [...ends.keys()].filter((lane) => ends[lane] < life.first - 2);
      const nearer = (a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a);
      life.lane = free.length ? free.reduce(nearer) : ends.length;
      ends[life.lane] = life.last;
    }
    return ends.length;
  }

  function drawStrip() {
    const lives = new Map(data.lives.map(([id, born, first, sizes]) =>
      [id, { id, born, first, sizes, last: first + sizes.length - 1, largest: Math.max(...sizes) }]));
    const but = (ids, id) => ids.filter((other) => other !== id);
    const origins = new Map();
    for (const [, kind, before, after] of data.events) {
      if (kind === "split") but(after, before[0]).forEach((id) => origins.set(id, before[0]));
    }
    const lanes = lanesOf(lives, origins);
    const lane = Math.min(Math.max(480 / Math.max(lanes, 1), 5), 30);
    const stride = 900 / Math.max(data.steps - data.first_step, 20);
    const x = (step) => 12 + (step - data.first_step + 0.5) * stride;
    const y = (life) => 12 + (life.lane + 0.5) * lane;
    const most = Math.max(1, ...[...lives.values()].map((life) => life.largest));
    const half = (size) => Math.max(0.42 * lane * Math.sqrt(size / most), 0.8);
    const marks = [];
    // A mark is as large as the cluster that begins or ends there, or the second largest of those that join or part.
    const mark = (text, step, life, ids) => {
      if (!life || step < data.first_step) return;
      const sizes = ids.map((id) => (lives.has(id) ? lives.get(id).largest : 1)).sort((a, b) => b - a);
      const side = 6 + 10 * Math.sqrt((sizes.length > 1 ? sizes[1] : sizes[0]) / most);
      const style = `font-size: ${side.toFixed(1)}px`;
      marks.push(drawn("text", { class: "mark", style, x: x(step), y: y(life) + 0.35 * side }, text));
    };
    const joins = [];
    const join = (from, to, step, id) => {
      if (!from || !to) return;
      const width = Math.max(3.5 * Math.sqrt(lives.get(id).largest / most), 0.5).toFixed(1);
      joins.push(drawn("path", { class: "join", stroke: colourOf(id), "stroke-width": width,
        d: `M${x(step - 1).toFixed(1)} ${y(from)}L${x(step).toFixed(1)} ${y(to)}` }));
    };
    for (const [step, kind, before, after] of data.events) {
      const later = lives.get(after[0]);
      const earlier = lives.get(before[0]);
      if (kind === "merged") {
        but(before, after[0]).forEach((id) => join(lives.get(id), later, step, id));
        mark("◆", step, later, before);
      } else if (kind === "split") {
        but(after, before[0]).forEach((id) => join(earlier, lives.get(id), step, id));
        mark("▲", step - 1, earlier, after);
      } else if (kind === "born") {
        mark("●", step, later, after);
      } else {
        mark("✕", step - 1, earlier, before);
      }
    }
    const isThere = (life) => life.last === data.steps - 1;
    const bars = [...lives.values()].map((life) => {
      const along = life.sizes.map((size, k) => [x(life.first + k), half(size)]);
      along.unshift([along[0][0] - 0.4 * stride, along[0][1]]);
      along.push([along[along.length - 1][0] + 0.4 * stride, along[along.length - 1][1]]);
      const side = (sign) => along.map(([left, thick]) => `${left.toFixed(1)} ${(y(life) + sign * thick).toFixed(1)}`);
      const end = isThere(life) ? "now" : `step ${life.last}`;
      const d = `M${[...side(-1), ...side(1).reverse()].join("L")}Z`;
      return drawn("path", { class: "life", "data-id": life.id, fill: colourOf(life.id), d },
        drawn("title", {},
          `cluster ${life.id}: from step ${life.born} to ${end}, at most ${counted(life.largest, "point")}`));
    });
    const names = lane < 10 ? [] : [...lives.values()].filter(isThere)
      .map((life) => drawn("text", { x: x(life.last) + 0.4 * stride + 6, y: y(life) + 4 }, String(life.id)));
    const hidden = data.all_lives - data.lives.length;
    const steps = counted(data.steps - data.first_step, "step");
    byId("strip-text").textContent = `The last ${steps}, from left to right, since ${timeOf(data.first_time)}. ` +
      "A line is a cluster, and the thicker, the more points it has. ● born, ◆ merged, ▲ split, ✕ ended." +
      (hidden > 0 ? ` The ${data.lives.length} largest are drawn; ${count(hidden)} are left out.` : "");
    const label = `${counted(data.lives.length, "cluster")} of the last ${steps}; the last changes are below in words`;
    byId("strip").append(
      drawn("svg", { viewBox: `0 0 980 ${24 + lanes * lane}`, role: "img", "aria-label": label },
        ...joins, ...bars, ...marks, ...names));
  }
  drawStrip();

  const told = { born: (b, a) => `${list(a)} was born`, merged: (b, a) => `${list(b)} merged into ${a[0]}`,
    split: (b, a) => `${list(b)} split into ${list(a)}`, ended: (b) => `${list(b)} ended` };
  const changes = data.events.slice(-12).reverse()
    .map(([step, kind, before, after]) => element("li", {}, `Step ${step}: ${told[kind](before, after)}.`));
  byId("changes").append(...(changes.length ? changes : [element("li", {}, "None.")]));

  // ---- The table

  byId("table-text").textContent = data.table.length < data.clusters
    ? `The ${data.table.length} largest of ${count(data.clusters)}.`
    : "Largest first.";
  byId("rows").append(...data.table.map(([id, size, core, step, time]) => element("tr", {},
    element("td", {}, element("span", { class: "swatch", style: `background: ${colourOf(id)}` }), String(id)),
    element("td", {}, count(size)), element("td", {}, count(core)),
    element("td", {}, step === null ? "–" : `${timeOf(time)} (step ${step})`))));
})();
