// One row a step, in the order in which they run.

function steps() {
  const timed = report.steps.some((step) => step.microseconds !== null);
  const coded = report.kernels.some((kernel) => kernel.resources);
  const number = (text, title) => element('th', {class: 'number', scope: 'col', title}, text);
  const table = element(
      'table', {class: 'steps'},
      element(
          'thead', {},
          element(
              'tr', {}, element('th', {scope: 'col'}, 'step'),
              coded &&
                  [
                    number('regs', 'registers per thread'),
                    number('shared', 'shared memory per block'),
                    number('local', 'local memory per thread: spills and indexed arrays')
                  ],
              number('bytes', 'of global memory, counting each element once'),
              number('flops', 'floating point operations'), number('fl/B', 'flops per byte'),
              timed &&
                  [
                    number('time', 'on the device'),
                    number('of copy', 'percentage of the rate of ' + report.run.ceiling.origin)
                  ])),
      element('tbody', {}, report.steps.map((step, index) => step_row(step, index, coded, timed))));
  arrows(table, 'tbody tr');
  watch((selected) => {
    for (const row of table.tBodies[0].rows) {
      row.setAttribute('aria-selected', String(Number(row.dataset.step) === selected.step));
    }
  });
  const note = [
    report.no_resources,
    timed &&
        'A copy moves ' + bytes(report.run.ceiling.bytes_per_second) +
            '/s: ' + report.run.ceiling.origin + '. Data in caches may be read faster.'
  ].filter(Boolean).join(' ');
  return section(
      'steps', 'Steps', note,
      report.steps.length ? element('div', {class: 'scroll'}, table) :
                            element('p', {class: 'empty'}, 'Nothing has to be computed.'));
}

function step_row(step, index, coded, timed) {
  const kernel =
      step.kernels.length && step.kind !== 'matmul' ? report.kernels[step.kernels[0]] : null;
  const used = kernel && kernel.resources;
  const number = (...content) => element('td', {class: 'number'}, content);
  return element(
      'tr', {
        'data-step': index,
        'data-kernels': step.kernels.join(' '),
        style: colour(step.group),
        ...activated(() => select_step(index))
      },
      element(
          'td', {},
          element(
              'div', {class: 'what'}, element('span', {class: 'index'}, index),
              element('span', {class: 'swatch'}),
              element(
                  'code', {class: 'name', title: step.what},
                  step.kind === 'kernel' ? step.what : step.kind + ' ' + step.what),
              element(
                  'span', {class: 'note'},
                  step.kind === 'matmul' ?
                      group_name(group_of_id.get(step.group)) :
                      [kernel && kernel.family, step.launch].filter(Boolean).join(', ')))),
      coded &&
          [
            number(used ? used.registers : ''),
            number(used ? bytes(used.shared_bytes + step.shared_bytes) : ''),
            element(
                'td', {class: used && used.local_bytes > 0 ? 'number warn' : 'number'},
                used ? bytes(used.local_bytes) : '')
          ],
      number(quantity(step.bytes, bytes)), number(quantity(step.flops, count)),
      number(step.flops_a_byte === null ? '' : step.flops_a_byte.toFixed(2)), timed && [
        number(step.microseconds === null ? '' : microseconds(step.microseconds)),
        number(step.share_of_ceiling === null ? '' : share(step.share_of_ceiling))
      ]);
}

function share(part) {
  const percent = Math.round(100 * part);
  return element(
      'span', {class: 'share', style: '--share: ' + Math.min(100, percent) + '%'}, percent + ' %');
}

function cuts() {
  if (!report.cuts.length) return null;
  return section(
      'cuts', 'Fusion barriers',
      'Why a node did not join the group that uses it: the nearest kernel family, and its reason.',
      element(
          'div', {class: 'scroll'},
          element(
              'table', {class: 'cuts'},
              element(
                  'thead', {},
                  element(
                      'tr', {},
                      ['node', 'does not join', 'nearest family', 'reason'].map(
                          (name) => element('th', {scope: 'col'}, name)))),
              element(
                  'tbody', {},
                  report.cuts.map(
                      (cut, index) => element(
                          'tr', {'data-cut': index, ...activated(() => select_node(cut.node))},
                          element(
                              'td', {},
                              element(
                                  'code', {}, '%' + cut.node + ' ' + graph.nodes[cut.node].label)),
                          element('td', {}, group_badge(group_of_id.get(cut.group))),
                          element('td', {}, cut.family),
                          element('td', {class: 'reason'}, cut.reason)))))));
}

function group_badge(group) {
  return element(
      'button', {
        class: 'badge',
        type: 'button',
        'data-group': group.id,
        style: colour(group.id),
        onclick: (event) => {
          event.stopPropagation();
          select_group(group.id);
        }
      },
      element('span', {class: 'swatch'}), group.id + ' ' + group_name(group));
}
