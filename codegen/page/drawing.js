// The graph after the passes: layers from inputs to outputs, each node in its group's colour.

const most_drawn = 400;
const node_height = 36, layer_gap = 26, node_gap = 14;

function drawing() {
  const legend = element('div', {class: 'legend'}, report.groups.map(group_badge));
  const note =
      'Dashed arrows are fusion barriers; a bar below a node marks a value that is stored in memory.';
  if (graph.nodes.length > most_drawn) {
    return section(
        'graph', 'Graph', 'Too large to draw: ' + graph.nodes.length + ' nodes.', legend,
        node_list());
  }
  return section(
      'graph', 'Graph', note, legend, element('div', {class: 'scroll'}, draw(place())),
      node_list());
}

// Constants and parameters stand just above the first node that reads them.
function place() {
  const layers = graph.nodes.map(() => 0);
  const users = graph.nodes.map(() => []);
  for (const node of graph.nodes) {
    for (const operand of node.operands) {
      users[operand].push(node.number);
      layers[node.number] = Math.max(layers[node.number], layers[operand] + 1);
    }
  }
  for (const node of [...graph.nodes].reverse()) {
    if (!node.operands.length && users[node.number].length)
      layers[node.number] = Math.min(...users[node.number].map((user) => layers[user])) - 1;
  }
  const rows = [];
  for (const node of graph.nodes) (rows[layers[node.number]] ??= []).push(node.number);
  const boxes = new Map(graph.nodes.map(
      (node) => [node.number, {
        width: Math.max(64, 16 + 6.7 * Math.max(node_title(node).length, node.type.length)),
        x: 0,
        y: 8 + layers[node.number] * (node_height + layer_gap)
      }]));
  for (const row of rows) line_up(row, boxes);
  const centre = (number) => boxes.get(number).x + boxes.get(number).width / 2;
  for (let round = 0; round < 6; ++round) {
    const downwards = round % 2 === 0;
    for (const row of downwards ? rows : [...rows].reverse()) {
      const pull = new Map(row.map((number) => {
        const near = downwards ? graph.nodes[number].operands : users[number];
        return [
          number,
          near.length ? near.reduce((sum, each) => sum + centre(each), 0) / near.length :
                        centre(number)
        ];
      }));
      row.sort((a, b) => pull.get(a) - pull.get(b) || a - b);
      line_up(row, boxes, pull);
    }
  }
  const left = Math.min(...[...boxes.values()].map((box) => box.x));
  for (const box of boxes.values()) box.x += 8 - left;
  return boxes;
}

// Side by side in their order, as near as they fit to where they are pulled.
function line_up(row, boxes, pull) {
  let end = -Infinity, shift = 0;
  for (const number of row) {
    const box = boxes.get(number);
    const wanted = pull ? pull.get(number) - box.width / 2 : 0;
    box.x = Math.max(wanted, end + node_gap, pull ? -Infinity : 0);
    end = box.x + box.width;
    shift += box.x - wanted;
  }
  if (pull)
    for (const number of row) boxes.get(number).x -= shift / row.length;
}

function node_title(node) {
  return '%' + node.number + ' ' + node.label;
}

function draw(boxes) {
  const width = Math.max(...[...boxes.values()].map((box) => box.x + box.width)) + 8;
  const height = Math.max(...[...boxes.values()].map((box) => box.y)) + node_height + 12;
  const cut = new Set(report.cuts.map((each) => each.node + ' ' + each.group));
  const edges = [];
  for (const node of graph.nodes) {
    for (const operand of node.operands) {
      const groups = groups_of_node.get(node.number) ?? [];
      const is_cut = groups.some((group) => cut.has(operand + ' ' + group.id));
      edges.push(edge(boxes.get(operand), boxes.get(node.number), is_cut));
    }
  }
  const picture = element(
      'svg', {
        class: 'drawing',
        width,
        height,
        viewBox: '0 0 ' + width + ' ' + height,
        role: 'group',
        'aria-label': 'The graph after the passes'
      },
      element(
          'defs', {},
          element(
              'marker', {
                id: 'head',
                viewBox: '0 0 8 8',
                refX: 7,
                refY: 4,
                markerWidth: 7,
                markerHeight: 7,
                orient: 'auto'
              },
              element('path', {d: 'M0 1 L8 4 L0 7 z'}))),
      edges, graph.nodes.map((node) => drawn_node(node, boxes.get(node.number))));
  arrows(picture, 'g.node');
  return mark_selected(picture);
}

function edge(from, to, is_cut) {
  const x = from.x + from.width / 2, y = from.y + node_height;
  const end = to.x + to.width / 2, bend = Math.min(24, (to.y - y) / 2);
  return element('path', {
    class: is_cut ? 'edge cut' : 'edge',
    'marker-end': 'url(#head)',
    d: `M${x} ${y} C${x} ${y + bend} ${end} ${to.y - bend} ${end} ${to.y - 1}`
  });
}

function drawn_node(node, box) {
  const groups = groups_of_node.get(node.number) ?? [];
  const stored = groups.some((group) => group.stored.includes(node.number));
  return element(
      'g', {
        class: groups.length ? 'node' : 'node outside',
        'data-node': node.number,
        style: groups.length ? colour(groups[0].id) : null,
        role: 'button',
        'aria-label': node.text,
        transform: `translate(${box.x} ${box.y})`,
        ...activated(() => select_node(node.number))
      },
      element('title', {}, node.text + (node.file ? '\n' + node.file + ':' + node.line : '')),
      element('rect', {width: box.width, height: node_height, rx: 5}),
      stored &&
          element(
              'rect', {class: 'stored', y: node_height - 4, width: box.width, height: 4, rx: 2}),
      element('text', {x: box.width / 2, y: 15}, node_title(node)),
      element('text', {class: 'type', x: box.width / 2, y: 28}, node.type));
}

function node_list() {
  const list = element(
      'ol', {class: 'nodes', hidden: graph.nodes.length <= most_drawn || null},
      graph.nodes.map((node) => {
        const groups = groups_of_node.get(node.number) ?? [];
        return element(
            'li', {
              'data-node': node.number,
              style: groups.length ? colour(groups[0].id) : null,
              ...activated(() => select_node(node.number))
            },
            element('code', {}, node.text), place_of(node), groups.map(group_badge));
      }));
  arrows(list, 'li');
  const toggle = element(
      'button', {
        type: 'button',
        class: 'quiet',
        'aria-expanded': String(!list.hidden),
        onclick: () => {
          list.hidden = !list.hidden;
          toggle.setAttribute('aria-expanded', String(!list.hidden));
          toggle.textContent = list.hidden ? 'Show as text' : 'Hide the text';
        }
      },
      list.hidden ? 'Show as text' : 'Hide the text');
  return [toggle, mark_selected(list)];
}

// Classes for what belongs to the group and node that are looked at.
function mark_selected(parent) {
  watch((selected) => {
    const group = group_of_id.get(selected.group);
    for (const each of parent.querySelectorAll('[data-node]')) {
      const number = Number(each.dataset.node);
      each.classList.toggle('in-group', Boolean(group && group.members.includes(number)));
      each.classList.toggle('selected', number === selected.node);
    }
  });
  return parent;
}
