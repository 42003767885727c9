// The report, and what the reader looks at: a step with one of its kernels, and a node.

const report = JSON.parse(document.getElementById('report').textContent);
const graph = report.graphs[report.graphs.length - 1];
const group_of_id = new Map(report.groups.map((group) => [group.id, group]));

// The groups that compute a node; one that several need may be computed by each.
const groups_of_node = new Map();
for (const group of report.groups) {
  for (const member of group.members) {
    if (!groups_of_node.has(member)) groups_of_node.set(member, []);
    groups_of_node.get(member).push(group);
  }
}

const user_text =
    new Map(report.user_lines.map((line) => [line.file + ':' + line.line, line.text]));

// "program.py:12", without the folders, which the tooltip has.
function place_of(node) {
  if (!node.file) return null;
  return element(
      'span', {class: 'place', title: node.file + ':' + node.line},
      node.file.replace(/^.*\//, '') + ':' + node.line);
}

function line_of(node) {
  return node.file ? user_text.get(node.file + ':' + node.line) ?? '' : '';
}

const colour_count = 8;
function colour(id) {
  return '--group: var(--group-' + (id % colour_count) + ')';
}

function group_name(group) {
  if (group.description) return group.description;
  if (group.library) return 'library';
  if (group.owner !== null) return 'in group ' + group.owner;
  return group.kernels.length ? report.kernels[group.kernels[group.kernels.length - 1]].family :
                                'nothing to run';
}

const selection = {
  step: null,
  kernel: null,
  group: null,
  node: null
};
const watchers = [];

function watch(watcher) {
  watchers.push(watcher);
}

function tell() {
  for (const watcher of watchers) watcher(selection);
}

function select_step(index, kernel = null) {
  const step = report.steps[index];
  selection.step = index;
  selection.group = step.group;
  selection.kernel = kernel ?? (step.kernels.length ? step.kernels[0] : null);
  selection.node = null;
  tell();
}

function select_group(id) {
  const group = group_of_id.get(id);
  if (group.steps.length) return select_step(group.steps[group.steps.length - 1]);
  selection.step = selection.kernel = selection.node = null;
  selection.group = id;
  tell();
}

function select_kernel(index) {
  const step = report.steps.findIndex((each) => each.kernels.includes(index));
  select_step(step, index);
}

// Stays with the group that is shown where that computes the node.
function select_node(number) {
  const groups = groups_of_node.get(number) ?? [];
  if (groups.length && !groups.some((group) => group.id === selection.group))
    select_group(groups[0].id);
  selection.node = number;
  tell();
}
