// The interactive figures of report.html, drawn as SVG with the scales and shapes of d3.
'use strict';

/** Draws every figure of the page in place of its static form; `page` is what page.js shares. */
function makeFigures(library, page) {
  const { data, state, axisNames, element, shape, button, isShown, change, writeAddress } = page;
  const svgNamespace = 'http://www.w3.org/2000/svg';
  const lives = [];
  const margin = { left: 62, right: 12, top: 8, bottom: 40 };
  const superscripts = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };

  function short(value) {
    if (value === null || value === undefined) return '–';
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(3);
    // Ratios are held against 1: what is not 1 does not read as 1.
    let digits = 4;
    while (Number(value.toPrecision(digits)) === 1 && value !== 1 && digits < 8) digits += 1;
    return String(Number(value.toPrecision(digits)));
  }

  const paint = (colour) => colour === '#000000' ? 'currentColor' : colour;
  const styleOf = (curve) => curve.colour ? curve : data.methods[curve.method];
  /** The methods of a curve: one, or where it joins several that of each point. */
  const methodsOf = (curve) => curve.joined ?? [curve.method];
  const isCurveShown = (curve) => methodsOf(curve).some(isShown);

  function makeAll() {
    for (const figure of data.figures) {
      const home = document.querySelector(`figure[data-figure="${figure.id}"]`);
      const plot = element('div', { class: 'live', 'data-live': figure.id });
      const tools = element('p', { class: 'tools' });
      const legend = element('ul', { class: 'legend' });
      const under = element('p', { class: 'under', role: 'status' });
      const spoken = element('p', { class: 'spoken', role: 'status' });
      home.querySelector('.static').replaceWith(plot);
      plot.append(tools, legend, under, spoken);
      const live = { figure, plot, tools, legend, under, spoken, reading: null };
      tools.append(button('whole figure', () => zoomTo(live, null)));
      makeLegend(live);
      lives.push(live);
    }
    for (const variant of document.querySelectorAll('figure[data-variant]')) variant.hidden = true;
  }

  /** The short text that tells a bound from the others of its figure: grey lines look alike. */
  function markOf(figure, curve) {
    const number = figure.curves.filter((one) => one.bound).indexOf(curve);
    return number < 0 ? '' : `(${number < 26 ? String.fromCharCode(97 + number) : number + 1})`;
  }

  function makeLegend(live) {
    live.entries = live.figure.curves.map((curve) => {
      const style = styleOf(curve);
      const swatch = document.createElementNS(svgNamespace, 'svg');
      swatch.setAttribute('viewBox', '0 0 34 12');
      swatch.setAttribute('aria-hidden', 'true');
      shape(swatch, 'path', { d: 'M0,6H34', fill: 'none', stroke: paint(style.colour),
        'stroke-width': curve.bound ? 1.2 : 2, 'stroke-dasharray': style.dash });
      if (style.marker) drawMarker(swatch, style, 17, 6);
      const value = element('span', { class: 'value' });
      const entry = button('', () => toggleCurve(curve), { 'data-method': methodsOf(curve).join(' ') });
      entry.append(swatch, element('span', { class: 'label' }, `${markOf(live.figure, curve)} ${curve.label}`.trim()), value);
      live.legend.append(element('li', {}, entry));
      return { entry, value };
    });
  }

  /** Hides the methods of a curve in all figures, or no longer hides them where none is shown. */
  function toggleCurve(curve) {
    const wasShown = isCurveShown(curve);
    for (const method of methodsOf(curve)) {
      if (wasShown) state.hidden.add(method);
      else state.hidden.delete(method);
    }
    change({});
  }

  function drawMarker(parent, style, x, y) {
    const kind = { circle: 'symbolCircle', square: 'symbolSquare', triangle: 'symbolTriangle', diamond: 'symbolDiamond',
      plus: 'symbolPlus', times: 'symbolTimes', asterisk: 'symbolAsterisk' }[style.marker];
    const isOpen = ['plus', 'times', 'asterisk'].includes(style.marker);
    shape(parent, 'path', { d: library.symbol(library[kind], 34)(), transform: `translate(${x},${y})`,
      fill: isOpen ? 'none' : paint(style.colour), stroke: paint(style.colour) });
  }

  /** The x values of a curve on the chosen axis; nothing where its runs did not count that. */
  const xOf = (live, curve) => data.places[curve.places][live.figure.x ? 'x' : state.x];
  const shownCurves = (live) => live.figure.curves.filter((curve) => isCurveShown(curve) && xOf(live, curve));
  /** The places of the points of a curve whose methods are shown. */
  const shownPlaces = (live, curve) => xOf(live, curve).map((_, i) => i)
    .filter((i) => !curve.joined || isShown(curve.joined[i]));
  const zoomKey = (live) => `${live.figure.id}/${live.figure.x ? 'x' : state.x}`;
  const isLog = (choice, automatic) => choice === 'auto' ? automatic : choice === 'log';

  function extent(values, log) {
    const [low, high] = library.extent(values.filter((v) => v !== null && (!log || v > 0)));
    if (low === undefined) return log ? [0.1, 1] : [0, 1];
    return low < high ? [low, high] : log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  }

  function yExtent(figure, curves, log) {
    if (log === figure.log) return figure.range;
    const all = curves.flatMap((curve) => [curve.middle, curve.lower ?? [], curve.upper ?? []].flat());
    return extent(all.filter((v) => v !== null && v <= figure.range[1] * 1.05), log);
  }

  function scales(live, width, height) {
    const { figure } = live;
    const curves = shownCurves(live);
    const all = curves.flatMap((curve) => shownPlaces(live, curve).map((i) => xOf(live, curve)[i]));
    const fitsLog = figure.x ? figure.xlog : state.x === 'bytes' && all.some((place) => place > 0);
    const xLog = isLog(state.xlog, fitsLog);
    const yLog = isLog(state.y, figure.log);
    const zoom = state.zooms.get(zoomKey(live));
    const places = all.filter((place) => !xLog || place > 0);
    const xDomain = zoom?.slice(0, 2) ?? extent(places, xLog);
    const yDomain = zoom?.slice(2) ?? yExtent(figure, curves, yLog);
    const make = (log, domain, range) => {
      const isUsable = log && domain[0] > 0;
      return Object.assign((isUsable ? library.scaleLog() : library.scaleLinear()).domain(domain).range(range),
        { isLog: isUsable });
    };
    return { x: make(xLog, xDomain, [margin.left, width - margin.right]),
      y: make(yLog, yDomain, [height - margin.bottom, margin.top]), xLog, yLog,
      ticks: zoom ? null : tickPlaces(places, xLog) };
  }

  /** Where points are, if each place is to have a tick of its own: a place alone, or a few on a logarithmic axis that do not crowd. */
  function tickPlaces(places, xLog) {
    const ticks = [...new Set(places)].sort((a, b) => a - b);
    if (ticks.length === 1) return ticks;
    const whole = Math.log(ticks[ticks.length - 1] / ticks[0]);
    const isCrowded = ticks.some((place, i) => i > 0 && Math.log(place / ticks[i - 1]) < 0.07 * whole);
    return xLog && ticks.length > 1 && ticks.length <= 10 && !isCrowded ? ticks : null;
  }

  function ticksOf(scale, count) {
    if (!scale.isLog) return scale.ticks(count).map((value) => [value, short(value)]);
    const decades = scale.ticks().filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9);
    if (decades.length < 2) return scale.ticks(count).map((value) => [value, short(value)]);
    const step = Math.ceil(decades.length / count);
    return decades.filter((_, i) => i % step === 0).map((value) => [value, '10' +
      [...String(Math.round(Math.log10(value)))].map((digit) => superscripts[digit]).join('')]);
  }

  function drawAxes(svg, live, { x, y, ticks }, width, height) {
    for (const [value, text] of ticksOf(y, 6)) {
      shape(svg, 'line', { class: 'grid', x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value) });
      shape(svg, 'text', { x: margin.left - 6, y: y(value) + 4, 'text-anchor': 'end' }, text);
    }
    const xTicks = ticks?.map((value) => [value, short(value)]) ?? ticksOf(x, Math.max(3, width / 90));
    for (const [value, text] of xTicks) {
      shape(svg, 'path', { class: 'axis', d: `M${x(value)},${height - margin.bottom}v4` });
      shape(svg, 'text', { x: x(value), y: height - margin.bottom + 17, 'text-anchor': 'middle' }, text);
    }
    shape(svg, 'path', { class: 'axis',
      d: `M${margin.left},${margin.top}V${height - margin.bottom}H${width - margin.right}` });
    shape(svg, 'text', { x: (margin.left + width) / 2, y: height - 5, 'text-anchor': 'middle' },
      live.figure.x ?? axisNames[state.x]);
    shape(svg, 'text', { x: 14, y: (height - margin.bottom) / 2, 'text-anchor': 'middle',
      transform: `rotate(-90 14 ${(height - margin.bottom) / 2})` }, live.figure.y);
  }

  /** Draws one curve and returns how many of its values have no place on a logarithmic axis. */
  function drawCurve(plane, live, curve, { x, y, xLog, yLog }) {
    const xs = xOf(live, curve);
    const style = styleOf(curve);
    const isOff = (value, log) => log && value <= 0;
    const has = (values) => (i) => values[i] !== null && values[i] !== undefined &&
      !isOff(values[i], yLog) && !isOff(xs[i], xLog);
    const places = shownPlaces(live, curve);
    const [low, high] = y.domain();
    const clipped = (value) => y(Math.min(Math.max(value, low), high));
    if (curve.lower) {
      shape(plane, 'path', { class: 'band', fill: paint(style.colour), d: library.area()
        .defined((i) => curve.lower[i] !== null && curve.upper[i] !== null && !isOff(xs[i], xLog))
        .x((i) => x(xs[i])).y0((i) => clipped(curve.lower[i])).y1((i) => clipped(curve.upper[i]))(places) ?? '' });
    }
    for (const seed of state.seeds ? curve.seeds ?? [] : []) {
      const at = (i) => i * curve.step;
      shape(plane, 'path', { class: 'seed', stroke: paint(style.colour), d: library.line()
        .defined((i) => seed[i] !== null && !isOff(seed[i], yLog) && !isOff(xs[at(i)], xLog))
        .x((i) => x(xs[at(i)])).y((i) => y(seed[i]))(seed.map((_, i) => i)) ?? '' });
    }
    const defined = has(curve.middle);
    shape(plane, 'path', { class: 'curve', stroke: paint(style.colour), 'stroke-width': curve.bound ? 1 : 1.8,
      'stroke-dasharray': style.dash, 'data-method': methodsOf(curve).join(' '), 'data-bound': curve.bound ? '1' : '',
      d: library.line().defined(defined).x((i) => x(xs[i])).y((i) => y(curve.middle[i]))(places) ?? '' });
    const every = Math.max(1, Math.floor(places.length / 8));
    for (const i of style.marker ? places.filter((place, i) => i % every === 0 && defined(place)) : []) {
      drawMarker(plane, style, x(xs[i]), y(curve.middle[i]));
    }
    if (curve.bound) drawMark(plane, live, curve, places.filter(defined), { x, y });
    return places.filter((i) => curve.middle[i] !== null && !defined(i)).length;
  }

  /** Writes the text of a bound at its curve; those of several bounds stand at different places. */
  function drawMark(plane, live, curve, places, { x, y }) {
    const [left, right] = x.range();
    const number = live.figure.curves.filter((one) => one.bound).indexOf(curve);
    const wanted = left + (0.94 - 0.11 * (number % 8)) * (right - left);
    const xs = xOf(live, curve);
    const shown = places.filter((i) => x(xs[i]) >= left && x(xs[i]) <= right);
    const place = library.least(shown, (i) => Math.abs(x(xs[i]) - wanted));
    if (place === undefined) return;
    shape(plane, 'text', { class: 'mark', x: x(xs[place]), y: y(curve.middle[place]) - 4, 'text-anchor': 'middle' },
      markOf(live.figure, curve));
  }

  function noteUnder(live, gaps) {
    const curves = shownCurves(live);
    const seeds = curves.filter((curve) => curve.n).flatMap((curve) => curve.n);
    const [least, most] = [Math.min(...seeds), Math.max(...seeds)];
    const notes = seeds.length === 0 ? [] : [`${live.figure.band} over ${least === most ? most : `${least} to ${most}`} seeds`];
    if (gaps > 0) notes.push(`${gaps} value${gaps === 1 ? '' : 's'} ≤ 0 left out of a logarithmic axis`);
    const without = live.figure.curves.filter((curve) => isCurveShown(curve) && !xOf(live, curve)).length;
    if (without > 0) notes.push(`${without} without ${axisNames[state.x]}`);
    return notes.join('; ');
  }

  function drawFigure(live) {
    const width = Math.max(280, live.plot.clientWidth);
    const height = Math.round(Math.min(380, 0.62 * width));
    const scale = scales(live, width, height);
    const svg = document.createElementNS(svgNamespace, 'svg');
    for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: 'application',
      'aria-label': `${live.figure.title}: arrow keys read values, plus and minus zoom, Escape shows all` })) {
      svg.setAttribute(key, value);
    }
    drawAxes(svg, live, scale, width, height);
    const clip = `clip-${live.figure.id}`;
    shape(shape(svg, 'clipPath', { id: clip }), 'rect', { x: margin.left, y: margin.top,
      width: width - margin.left - margin.right, height: height - margin.top - margin.bottom });
    const plane = shape(svg, 'g', { 'clip-path': `url(#${clip})` });
    const reference = live.figure.reference;
    if (reference && !(scale.yLog && reference.y <= 0)) {
      shape(plane, 'path', { d: `M${margin.left},${scale.y(reference.y)}H${width}`, stroke: 'currentColor',
        'stroke-dasharray': '1 3' });
      shape(svg, 'text', { class: 'reference', x: width - margin.right, y: scale.y(reference.y) - 4, 'text-anchor': 'end' }, reference.label);
    }
    let gaps = 0;
    for (const curve of shownCurves(live)) gaps += drawCurve(plane, live, curve, scale);
    live.cursor = shape(plane, 'path', { class: 'cursor' });
    live.box = shape(plane, 'rect', { class: 'box' });
    Object.assign(live, { scale, width, height, svg });
    const hadFocus = live.plot.querySelector('svg.figure') === document.activeElement;
    svg.setAttribute('class', 'figure');
    live.plot.querySelector('svg.figure')?.remove();
    live.plot.prepend(svg);
    if (hadFocus) svg.focus();
    live.under.textContent = noteUnder(live, gaps);
    live.tools.hidden = !state.zooms.has(zoomKey(live));
    listen(live);
    read(live, live.reading);
  }

  /** Shows what all curves are at x, in the legend. */
  function read(live, x) {
    live.reading = x;
    const isOnAxis = x !== null && Number.isFinite(live.scale.x(x));
    live.cursor.setAttribute('d', isOnAxis ? `M${live.scale.x(x)},${margin.top}V${live.height - margin.bottom}` : '');
    live.figure.curves.forEach((curve, i) => {
      const { entry, value } = live.entries[i];
      entry.setAttribute('aria-pressed', String(isCurveShown(curve)));
      const xs = xOf(live, curve);
      if (x === null || !xs || !isCurveShown(curve)) {
        value.textContent = '';
        return;
      }
      const places = shownPlaces(live, curve);
      const place = places[library.bisectCenter(places.map((i) => xs[i]), x)];
      const band = curve.lower && curve.lower[place] !== curve.upper[place]
        ? ` [${short(curve.lower[place])}, ${short(curve.upper[place])}]` : '';
      value.textContent = `${short(curve.middle[place])}${band} at ${short(xs[place])}`;
    });
  }

  function zoomTo(live, box) {
    if (box) state.zooms.set(zoomKey(live), box.map((value) => Number(value.toPrecision(5))));
    else state.zooms.delete(zoomKey(live));
    drawFigure(live);
    writeAddress();
  }

  function zoomBy(live, factor) {
    const [left, right] = live.scale.x.range();
    const middle = live.reading === null ? (left + right) / 2 : live.scale.x(live.reading);
    const ends = [left, right].map((end) => live.scale.x.invert(middle + (end - middle) * factor));
    zoomTo(live, [...ends, ...live.scale.y.domain()]);
  }

  /** Reads the values at the next place, and says them: a key moves nothing that a screen reader follows. */
  function step(live, direction) {
    const [curve] = shownCurves(live);
    const xs = (curve ? shownPlaces(live, curve).map((i) => xOf(live, curve)[i]) : [])
      .filter((x) => Number.isFinite(live.scale.x(x)));
    const place = live.reading === null ? -1 : library.bisectCenter(xs, live.reading);
    const stride = Math.max(1, Math.round(xs.length / 50));
    const next = Math.min(Math.max(place + direction * stride, 0), xs.length - 1);
    if (xs.length === 0) return;
    read(live, xs[next]);
    live.spoken.textContent = live.entries.filter(({ value }) => value.textContent !== '')
      .map(({ entry, value }) => `${entry.querySelector('.label').textContent}: ${value.textContent}`).join('; ');
  }

  function listen(live) {
    const { svg, scale } = live;
    const point = (event) => {
      const box = svg.getBoundingClientRect();
      return [(event.clientX - box.left) * live.width / box.width, (event.clientY - box.top) * live.height / box.height];
    };
    let start = null;
    svg.addEventListener('pointermove', (event) => {
      const [px, py] = point(event);
      if (start) {
        const [x, y] = [Math.min(px, start[0]), Math.min(py, start[1])];
        for (const [key, value] of Object.entries({ x, y, width: Math.abs(px - start[0]), height: Math.abs(py - start[1]) })) {
          live.box.setAttribute(key, value);
        }
      }
      read(live, px < margin.left || px > live.width - margin.right ? null : scale.x.invert(px));
    });
    svg.addEventListener('pointerleave', () => read(live, null));
    svg.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'mouse' || event.button !== 0) return;
      start = point(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener('pointerup', (event) => {
      const from = start;
      start = null;
      if (!from) return;
      const [px, py] = point(event);
      if (Math.abs(px - from[0]) < 8 || Math.abs(py - from[1]) < 8) return;
      const [x0, x1] = [from[0], px].sort((a, b) => a - b).map((p) => scale.x.invert(p));
      const [y1, y0] = [from[1], py].sort((a, b) => a - b).map((p) => scale.y.invert(p));
      zoomTo(live, [x0, x1, y0, y1]);
    });
    svg.addEventListener('dblclick', () => zoomTo(live, null));
    svg.addEventListener('keydown', (event) => {
      const actions = { ArrowLeft: () => step(live, -1), ArrowRight: () => step(live, 1), '+': () => zoomBy(live, 0.5),
        '=': () => zoomBy(live, 0.5), '-': () => zoomBy(live, 2), 0: () => zoomTo(live, null), Escape: () => zoomTo(live, null) };
      if (!Object.hasOwn(actions, event.key)) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  let drawings = 0;

  function isOnScreen(live) {
    const box = live.plot.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  }

  /** Draws what is on the screen at once, and the other figures one by one while the page can be used. */
  function drawAll(isForPrint) {
    const drawing = ++drawings;
    const later = isForPrint ? [] : lives.filter((live) => !isOnScreen(live));
    lives.filter((live) => !later.includes(live)).forEach(drawFigure);
    const drawNext = () => {
      if (drawing !== drawings) return;
      const live = later.shift();
      document.documentElement.dataset.ready = live ? '0' : '1';
      if (!live) return;
      drawFigure(live);
      setTimeout(drawNext);
    };
    drawNext();
  }

  makeAll();
  // What was folded had no width when it was drawn.
  for (const folded of document.querySelectorAll('details:has(.live)')) {
    folded.addEventListener('toggle', () => {
      if (folded.open) lives.filter((live) => folded.contains(live.plot)).forEach(drawFigure);
    });
  }
  addEventListener('beforeprint', () => drawAll(true));
  return { draw: () => drawAll(false) };
}
