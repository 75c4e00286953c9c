// The interactive layer of report.html. Without it the page is whole: static figures and tables.
// It adds sorting and filters to tables, and figures.js draws the figures anew where the library d3
// is in the page. The state of the page is in the address after '#', so that a link shows what the
// sender saw.
'use strict';

(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const library = globalThis.d3;
  const axisNames = { iteration: 'iterations', epoch: 'epochs', bytes: 'bytes sent',
    gradients: 'gradients', time: 'virtual time, s', wall: 'wall time, s' };
  // Virtual time is that of the study's first network; the others have clocks of their own.
  if (data.networks.length > 1) axisNames.time = `virtual time on ${data.networks[0]}, s`;
  for (const name of data.networks.slice(1)) axisNames['time:' + name] = `virtual time on ${name}, s`;
  const svgNamespace = 'http://www.w3.org/2000/svg';

  // --- The state and the address --------------------------------------------------------------

  const scales = [['auto', 'as fits'], ['linear', 'linear'], ['log', 'log']];
  const axes = Object.keys(axisNames).filter((axis) => data.places.some((place) => place[axis]));
  const choices = { x: axes.map((axis) => [axis, axisNames[axis]]), xlog: scales, y: scales,
    theme: [['auto', 'auto'], ['light', 'light'], ['dark', 'dark']] };
  const standard = { x: 'iteration', xlog: 'auto', y: 'auto', theme: 'auto', query: '', at: '' };
  const state = { ...standard, seeds: false, hidden: new Set(), filters: new Map(), sorts: new Map(),
    zooms: new Map() };

  const isKnown = (field, value) => !choices[field] || choices[field].some(([known]) => known === value);
  const hasMethod = (key, value) => data.methods.some(({ keys }) => Object.hasOwn(keys, key) && keys[key] === value);
  const isOfSome = (key) => data.methods.some(({ keys }) => Object.hasOwn(keys, key)) &&
    !data.methods.every(({ keys }) => Object.hasOwn(keys, key));

  /**
   * Takes the whole state from the address; one that only names a section leaves the rest alone. An
   * address is anyone's text: what this page does not know is left at its standard.
   */
  function readAddress() {
    const address = location.hash.slice(1);
    if (address !== '' && !address.includes('=')) {
      state.at = address;
      return;
    }
    const fields = new URLSearchParams(address);
    for (const [name, value] of Object.entries(standard)) {
      const given = fields.get(name);
      state[name] = given !== null && isKnown(name, given) ? given : value;
    }
    state.seeds = fields.get('seeds') === '1';
    const pairs = (prefix) => [...fields].filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]);
    state.hidden = new Set((fields.get('hide') ?? '').split(',').filter(Boolean).map(Number)
      .filter((method) => data.methods[method]));
    state.filters = new Map([...pairs('key.').filter(([key, value]) => hasMethod(key, value)),
      ...pairs('without.').filter(([key]) => isOfSome(key)).map(([key]) => [key, undefined])]);
    state.sorts = new Map(pairs('sort.'));
    state.zooms = new Map(pairs('zoom.').map(([name, value]) => [name, value.split(',').map(Number)])
      .filter(([, box]) => box.length === 4 && box.every(Number.isFinite)));
  }

  function writeAddress() {
    const fields = new URLSearchParams();
    for (const [name, value] of Object.entries(standard)) {
      if (state[name] !== value) fields.set(name, state[name]);
    }
    if (state.seeds) fields.set('seeds', '1');
    if (state.hidden.size > 0) fields.set('hide', [...state.hidden].sort((a, b) => a - b).join(','));
    for (const [key, value] of state.filters) {
      if (value === undefined) fields.set('without.' + key, '1');
      else fields.set('key.' + key, value);
    }
    for (const [key, value] of state.sorts) fields.set('sort.' + key, value);
    for (const [key, box] of state.zooms) fields.set('zoom.' + key, box.join(','));
    history.replaceState(null, '', '#' + fields);
  }

  /** Whether a method passes the filters; those that were clicked away are hidden, too. */
  function isShown(method) {
    if (method === null || method === undefined) return true;
    const keys = data.methods[method].keys;
    return !state.hidden.has(method) &&
      [...state.filters].every(([key, value]) => (Object.hasOwn(keys, key) ? keys[key] : undefined) === value);
  }

  // --- Elements ---------------------------------------------------------------------------------

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function shape(parent, name, attributes, text) {
    const made = document.createElementNS(svgNamespace, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function button(text, onClick, attributes = {}) {
    const made = element('button', { type: 'button', ...attributes }, text);
    made.addEventListener('click', onClick);
    return made;
  }

  /** Buttons of which one is pressed, by the state's field of that name. */
  function choice(title, field) {
    const set = element('span', { class: 'set', role: 'group', 'aria-label': title },
      element('span', { class: 'name' }, title));
    for (const [value, text] of choices[field]) {
      set.append(button(text, () => change({ [field]: value }), { 'data-choice': field, 'data-value': value }));
    }
    return set;
  }

  // --- Controls ---------------------------------------------------------------------------------

  /** The keys in which methods differ, with their values; undefined is that of methods without the key. */
  function sweptKeys() {
    const keys = new Map();
    for (const method of data.methods) {
      for (const [key, value] of Object.entries(method.keys)) {
        keys.set(key, (keys.get(key) ?? new Set()).add(value));
      }
    }
    for (const [key, values] of keys) {
      if (isOfSome(key)) values.add(undefined);
    }
    return [...keys].filter(([, values]) => values.size > 1);
  }

  const optionOf = (value) => value === undefined ? '-' : '=' + value;

  function keyFilter(key, values) {
    const select = element('select', { 'aria-label': key, 'data-key': key },
      element('option', { value: '' }, 'all'));
    for (const value of values) {
      select.append(element('option', { value: optionOf(value) }, value ?? 'without'));
    }
    select.addEventListener('change', () => {
      if (select.value === '') state.filters.delete(key);
      else state.filters.set(key, select.value === optionOf(undefined) ? undefined : select.value.slice(1));
      change({});
    });
    return element('label', { class: 'set' }, element('span', { class: 'name' }, key), select);
  }

  function makeControls() {
    const controls = element('div', { class: 'controls', role: 'region', 'aria-label': 'Figures and filters' });
    if (library) {
      if (axes.length > 1) controls.append(choice('x axis', 'x'));
      controls.append(choice('x scale', 'xlog'), choice('y scale', 'y'));
      if (data.figures.some((figure) => figure.curves.some((curve) => curve.seeds))) {
        controls.append(button('single seeds', () => change({ seeds: !state.seeds }), { 'data-toggle': 'seeds' }));
      }
    }
    for (const [key, values] of sweptKeys()) controls.append(keyFilter(key, values));
    controls.append(choice('colours', 'theme'),
      button('reset', reset, { 'data-reset': '' }),
      element('span', { class: 'name', role: 'status', id: 'shown' }));
    document.getElementById('main').before(controls);
  }

  function reset() {
    state.hidden.clear();
    state.filters.clear();
    state.zooms.clear();
    change({ x: 'iteration', xlog: 'auto', y: 'auto', seeds: false, query: '' });
  }

  function updateControls() {
    for (const one of document.querySelectorAll('[data-choice]')) {
      one.setAttribute('aria-pressed', String(state[one.dataset.choice] === one.dataset.value));
    }
    for (const one of document.querySelectorAll('[data-toggle]')) {
      one.setAttribute('aria-pressed', String(state[one.dataset.toggle]));
    }
    for (const select of document.querySelectorAll('select[data-key]')) {
      const { key } = select.dataset;
      select.value = state.filters.has(key) ? optionOf(state.filters.get(key)) : '';
    }
    const shown = data.methods.filter((_, method) => isShown(method)).length;
    document.getElementById('shown').textContent = shown === data.methods.length
      ? '' : `${shown} of ${data.methods.length} methods shown`;
    document.documentElement.dataset.theme = state.theme;
  }

  // --- Tables -----------------------------------------------------------------------------------

  const unsorted = new Map();  // the rows of each table as they were at first

  /** What a cell is sorted by: the number that it holds, or its text. */
  function sortValue(row, column) {
    const cell = row.cells[column];
    const text = (cell.dataset.value ?? cell.firstChild?.textContent ?? '').trim();
    const number = text === '' ? NaN : Number(text);
    return Number.isNaN(number) ? text : number;
  }

  function compare(a, b) {
    if (typeof a === typeof b) return typeof a === 'number' ? a - b : a.localeCompare(b);
    return typeof a === 'number' ? -1 : 1;
  }

  function sortTable(table) {
    const [column, order] = (state.sorts.get(table.id) ?? '').split('.');
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((cell, i) => cell.setAttribute('aria-sort',
      String(i) !== column ? 'none' : order === 'down' ? 'descending' : 'ascending'));
    const rows = unsorted.get(table);
    if (!headers[Number(column)] || column === '') {
      table.tBodies[0].append(...rows);
      return;
    }
    const sign = order === 'down' ? -1 : 1;
    const valued = rows.map((row) => [sortValue(row, Number(column)), row]);
    valued.sort((a, b) => sign * compare(a[0], b[0]));
    table.tBodies[0].append(...valued.map(([, row]) => row));
  }

  function makeSortable(table) {
    unsorted.set(table, [...table.tBodies[0].rows]);
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      const sort = button('', () => {
        const next = state.sorts.get(table.id) === `${i}.up` ? `${i}.down` : `${i}.up`;
        state.sorts.set(table.id, next);
        sortTable(table);
        writeAddress();
      });
      sort.append(...cell.childNodes);
      cell.append(sort);
    });
    if (table.dataset.find === undefined) return;
    const input = element('input', { type: 'search', id: table.id + '-find' });
    input.addEventListener('input', () => change({ query: input.value }));
    table.closest('.scroll').before(element('p', { class: 'find' },
      element('label', { for: input.id }, 'Rows that contain '), input));
  }

  function updateRows() {
    const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll('tr[data-method]')) {
      const isFound = row.closest('table').dataset.find === undefined ||
        words.every((word) => row.textContent.toLowerCase().includes(word));
      row.hidden = !(isShown(row.dataset.method === '' ? null : Number(row.dataset.method)) && isFound);
    }
    for (const part of document.querySelectorAll('[data-of]')) part.hidden = !isShown(Number(part.dataset.of));
    for (const input of document.querySelectorAll('.find input')) {
      if (input.value !== state.query) input.value = state.query;
    }
  }

  /** Says of a table that is wider than its box that it goes on, whenever either changes its width. */
  function markCutTables() {
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const box = target.closest('.scroll');
        box.classList.toggle('cut', box.scrollWidth > box.clientWidth + 1);
      }
    });
    for (const box of document.querySelectorAll('.scroll')) {
      observer.observe(box);
      observer.observe(box.firstElementChild);
    }
  }

  // --- The page ---------------------------------------------------------------------------------

  /** Opens all details for the time of printing: paper has nothing to click. */
  function showDetailsOnPaper() {
    let opened = [];
    addEventListener('beforeprint', () => {
      opened = [...document.querySelectorAll('details:not([open])')];
      for (const one of opened) one.open = true;
    });
    addEventListener('afterprint', () => {
      for (const one of opened) one.open = false;
    });
  }

  function change(fields) {
    Object.assign(state, fields);
    update();
    writeAddress();
  }

  function update() {
    updateControls();
    updateRows();
    figures?.draw();
  }

  function goTo(id) {
    const target = document.getElementById(id);
    if (!target) return;
    target.scrollIntoView();
    target.querySelector('h2')?.focus({ preventScroll: true });
  }

  readAddress();
  makeControls();
  for (const table of document.querySelectorAll('table[data-sort]')) {
    makeSortable(table);
    sortTable(table);
  }
  markCutTables();
  const figures = library && makeFigures(library, { data, state, axisNames, element, shape, button, isShown,
    change, writeAddress });
  update();
  for (const link of document.querySelectorAll('nav a')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      state.at = link.hash.slice(1);
      goTo(state.at);
      writeAddress();
    });
  }
  addEventListener('hashchange', () => {
    readAddress();
    document.querySelectorAll('table[data-sort]').forEach(sortTable);
    update();
    goTo(state.at);
  });
  addEventListener('resize', () => figures?.draw());
  showDetailsOnPaper();
  goTo(state.at);
  if (!figures) document.documentElement.dataset.ready = '1';
  performance.mark('usable');
})();
