function summary() {
  const standing_by = report.kernels.filter((kernel) => kernel.stands_by).length;
  const target = report.target.split(' ');
  const modes = [
    report.modes.strict && 'strict', report.modes.approximate && 'approximate',
    ...report.modes.disabled.map((name) => 'without ' + name)
  ].filter(Boolean);
  return [
    element(
        'div', {class: 'title'}, element('h1', {}, report.program),
        element(
            'p', {class: 'target', title: report.target},
            element('b', {}, target[1] ?? report.target), ' ', target.slice(2).join(' ')),
        modes.length > 0 && element('p', {class: 'modes'}, modes.join(', '))),
    element(
        'dl', {class: 'tiles'},
        tile(
            'kernels', report.kernels.length - standing_by,
            report.groups.length + (report.groups.length === 1 ? ' group' : ' groups')),
        tile(
            'bytes moved', quantity(report.bytes_moved, bytes),
            report.bytes_over_fewest !== null &&
                report.bytes_over_fewest.toFixed(2) + ' × the fewest possible'),
        tile(
            'flops', quantity(report.flops, count),
            report.flops_a_byte !== null && report.flops_a_byte.toFixed(2) + ' per byte'),
        tile(
            'temporaries',
            report.temporaries.length === 0 ? 'none' :
                report.arena_bytes !== null ? bytes(report.arena_bytes) :
                                              'symbolic',
            report.temporaries.length > 0 && report.temporaries.length + ' in one arena'),
        report.run &&
            tile(
                'one run', microseconds(report.run.microseconds),
                report.run.device + ', median of ' + report.run.runs)),
  ];
}

function tile(name, value, note) {
  return element(
      'div', {}, element('dt', {}, name),
      element(
          'dd', {}, element('span', {class: 'value'}, value),
          note && element('span', {class: 'note'}, note)));
}
