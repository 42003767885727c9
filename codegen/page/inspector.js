// The kernel that is looked at: its text beside its nodes and the user's lines.

const inspector = document.getElementById('inspector');
let shows_library = false;

function inspect(selected) {
  const group = group_of_id.get(selected.group);
  if (!group) {
    inspector.replaceChildren(element('p', {class: 'empty'}, 'There is nothing to run.'));
    return;
  }
  const kernel = selected.kernel === null ? null : report.kernels[selected.kernel];
  const step = selected.step === null ? null : report.steps[selected.step];
  inspector.style.cssText = colour(group.id);
  inspector.dataset.kernel = kernel ? kernel.name : '';
  inspector.dataset.group = group.id;
  inspector.replaceChildren(
      ...[heading(group, kernel, step), step && step.kernels.length > 1 && kernel_tabs(step),
          facts(kernel, step), nodes_of(group, kernel), kernel && source_of(kernel)]
          .filter(Boolean));
  mark_node(selected.node);
}

function heading(group, kernel, step) {
  const title = kernel ? kernel.name : step ? step.kind + ' ' + step.what : 'Group ' + group.id;
  return element(
      'div', {class: 'heading'},
      element('h2', {}, element('span', {class: 'swatch'}), element('code', {}, title)),
      element(
          'p', {class: 'note'}, 'group ' + group.id + ', ' + group_name(group),
          kernel && kernel.stands_by && ': fallback, runs if the library refuses'));
}

function kernel_tabs(step) {
  return arrows(
      element(
          'div', {class: 'strip'},
          step.kernels.map(
              (index) => element(
                  'button', {
                    type: 'button',
                    class: 'tab',
                    'aria-pressed': String(index === selection.kernel),
                    onclick: () => select_step(selection.step, index)
                  },
                  report.kernels[index].name))),
      'button');
}

function facts(kernel, step) {
  const all = [];
  const add = (name, value, wide = false) => value !== '' && value !== null &&
      all.push(element(
          'div', {class: wide ? 'wide' : null}, element('dt', {}, name), element('dd', {}, value)));
  if (kernel) add('plan', kernel.plan, true);
  if (step) add('launch', step.launch);
  if (kernel && kernel.resources) {
    const used = kernel.resources;
    add('registers', String(used.registers));
    add('shared memory',
        used.shared_bytes + ' B' +
            (step && step.shared_bytes ? ' + ' + step.shared_bytes + ' B requested at launch' :
                                         ''));
    add('local memory', used.local_bytes + ' B');
    add('machine code', bytes(used.code_bytes));
  }
  if (step)
    add('buffers', step.uses.map((use) => (use.written ? '→ ' : '') + use.buffer).join(', '));
  if (kernel && kernel.module) add('module in the cache', element('code', {}, kernel.module), true);
  return element('dl', {class: 'facts'}, all);
}

function nodes_of(group, kernel) {
  const numbers = kernel ? kernel.nodes : group.members;
  const list = element('ol', {class: 'nodes'}, numbers.map((number) => {
    const node = graph.nodes[number];
    return element(
        'li', {
          'data-node': number,
          class: group.stored.includes(number) ? 'stored' : '',
          ...activated(() => select_node(number)),
          onmouseenter: () => mark_node(number),
          onmouseleave: () => mark_node(selection.node)
        },
        element('code', {}, node.text),
        node.file &&
            element(
                'span', {class: 'user'}, place_of(node),
                line_of(node).trim() !== node.text && element('code', {}, line_of(node).trim())));
  }));
  return arrows(list, 'li');
}

function source_of(kernel) {
  const lines = kernel.source.replace(/\n$/, '').split('\n');
  const nodes = new Map(kernel.lines.map((line) => [line.line, line.node]));
  const first = shows_library ? 1 : kernel.body;
  const list = element('ol', {
    class: 'source',
    style: '--digits: ' + String(lines.length).length,
    'aria-label': 'Source of ' + kernel.name
  });
  for (let number = first; number <= lines.length; ++number) {
    const node = nodes.get(number);
    list.append(element(
        'li', {
          'data-line': number,
          'data-node': node,
          onmouseenter: node !== undefined && (() => mark_node(node)),
          onmouseleave: node !== undefined && (() => mark_node(selection.node)),
          onclick: node !== undefined && (() => select_node(node))
        },
        element('span', {class: 'line'}, number), element('code', {}, coloured(lines[number - 1])),
        node !== undefined && element('span', {class: 'of'}, '%' + node)));
  }
  const toggle = kernel.body > 1 &&
      element('button', {
                   type: 'button',
                   class: 'quiet',
                   'aria-pressed': String(shows_library),
                   onclick: () => {
                     shows_library = !shows_library;
                     tell();
                   }
                 },
              (shows_library ? 'Hide' : 'Show') + ' the library\'s ' + (kernel.body - 1) +
                  ' lines');
  return element(
      'div', {class: 'text'},
      element('div', {class: 'bar'}, report.host ? 'C++' : 'CUDA C++', toggle), list);
}

const keywords =
    ('extern const static_cast constexpr inline template typename struct namespace using typedef ' +
     'return if else for while bool int unsigned long short char float double void auto true ' +
     'false __global__ __device__ __shared__ __restrict__ __launch_bounds__')
        .split(' ');
const words = new RegExp(
    String.raw`(//.*)|("(?:[^"\\]|\\.)*")|\b(${keywords.join('|')})\b|\b(\d[\w.]*)\b|(^\s*#.*)`, 'g');

function coloured(line) {
  const parts = [];
  let end = 0;
  for (const match of line.matchAll(words)) {
    const kind =
        ['comment', 'string', 'keyword', 'literal', 'directive'][match.slice(1).findIndex(Boolean)];
    parts.push(line.slice(end, match.index), element('span', {class: kind}, match[0]));
    end = match.index + match[0].length;
  }
  parts.push(line.slice(end));
  return parts;
}

function mark_node(number) {
  for (const each of inspector.querySelectorAll('[data-node]'))
    each.classList.toggle('selected', number !== null && Number(each.dataset.node) === number);
}
