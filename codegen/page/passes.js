// What each pass did to the text of the graph.

function passes() {
  const view = element('div', {class: 'pass', role: 'tabpanel', id: 'pass-view', tabindex: 0});
  const tabs = [tab('as recorded', null, () => recorded())];
  for (const pass of report.passes) tabs.push(tab(pass.name, pass, () => changes_of(pass)));
  const strip = arrows(
      element(
          'div', {class: 'strip', role: 'tablist', 'aria-label': 'Passes'},
          tabs.map((each) => each.button)),
      'button');
  const show = (chosen) => {
    for (const each of tabs) each.button.setAttribute('aria-selected', String(each === chosen));
    view.replaceChildren(...chosen.view());
  };
  for (const each of tabs) each.button.addEventListener('click', () => show(each));
  show(tabs.find((each) => each.pass && each.pass.changes.length) ?? tabs[0]);
  const changed = report.passes.filter((pass) => pass.changes.length).length;
  return section(
      'passes', 'Passes',
      changed === 0 ? 'No pass changed the graph.' :
                      changed + ' of ' + report.passes.length + ' changed the graph.',
      strip, view);
}

function tab(name, pass, view) {
  const counts = pass && pass.changes.length ? count_changes(pass.changes) : [];
  const state = !pass ? 'recorded' : !pass.ran ? 'off' : counts.length ? 'changed' : 'unchanged';
  const button = element(
      'button', {
        type: 'button',
        role: 'tab',
        class: 'tab ' + state,
        'data-pass': pass ? name : null,
        'aria-controls': 'pass-view'
      },
      element('span', {class: 'name'}, name),
      state === 'off' && element('span', {class: 'note'}, 'off'), counts);
  return {button, pass, view};
}

function count_changes(changes) {
  const added = changes.filter((line) => line.before === null).length;
  const removed = changes.filter((line) => line.after === null).length;
  const rewired = changes.filter((line) => line.rewired).length;
  return [
    removed > 0 && element('span', {class: 'removed', title: removed + ' removed'}, '−' + removed),
    added > 0 && element('span', {class: 'added', title: added + ' added'}, '+' + added),
    rewired > 0 &&
        element('span', {class: 'rewired', title: rewired + ' with other operands'}, '~' + rewired)
  ].filter(Boolean);
}

function recorded() {
  return [
    element('p', {class: 'note'}, 'The program before any pass.'),
    code_lines(report.graphs[0].nodes.map((node) => ({kind: '', node})))
  ];
}

function changes_of(pass) {
  const why = element(
      'p', {class: 'why'}, element('b', {}, pass.name), ' runs at this point: ', pass.why, '.',
      pass.required && element('span', {class: 'note'}, ' Cannot be switched off.'));
  if (!pass.ran) return [why, element('p', {class: 'empty'}, 'It was switched off.')];
  if (!pass.changes.length) return [why, element('p', {class: 'empty'}, 'It changed nothing.')];
  const before = report.graphs[pass.before].nodes, after = report.graphs[pass.after].nodes;
  return [
    why, code_lines(pass.changes.map((line) => {
      if (line.after === null) return {kind: 'removed', node: before[line.before]};
      if (line.before === null) return {kind: 'added', node: after[line.after]};
      return {kind: line.rewired ? 'rewired' : '', node: after[line.after]};
    }))
  ];
}

const marks = {
  removed: '−',
  added: '+',
  rewired: '~',
  '': ''
};

// Long stretches that stay the same are folded, but for a few lines around what changed.
const most_unfolded = 24, context = 4;

function code_lines(lines) {
  const list = element('ol', {class: 'difference scroll'});
  const folds = lines.some((line) => line.kind !== '');
  for (let begin = 0; begin < lines.length;) {
    let end = begin;
    while (end < lines.length && lines[end].kind === lines[begin].kind) ++end;
    const same = lines.slice(begin, end).map(code_line);
    if (folds && lines[begin].kind === '' && same.length > most_unfolded) {
      const hidden = same.slice(begin > 0 ? context : 0, end < lines.length ? -context : undefined);
      list.append(...same.slice(0, begin > 0 ? context : 0), fold(hidden));
      list.append(...same.slice(end < lines.length ? -context : same.length));
    } else {
      list.append(...same);
    }
    begin = end;
  }
  return list;
}

function code_line({kind, node}) {
  return element(
      'li', {class: kind},
      element('span', {class: 'mark', 'aria-label': kind || null}, marks[kind]),
      element('code', {}, node.text), place_of(node));
}

function fold(lines) {
  const item = element(
      'li', {class: 'fold'},
      element(
          'button', {type: 'button', class: 'quiet', onclick: () => item.replaceWith(...lines)},
          lines.length + ' unchanged lines'));
  return item;
}
