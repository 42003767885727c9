// Steps from left to right, the arena from bottom to top, a rectangle for each temporary.

function memory() {
  return section(
      'memory', 'Memory', memory_note(), report.arena_bytes > 0 && arena_picture(),
      temporaries_table(), arrays_table());
}

function memory_note() {
  if (!report.temporaries.length) return 'There are no temporaries.';
  if (report.arena_bytes === null)
    return 'Sizes are symbolic: the arena is laid out at launch, so there is no picture.';
  const sum = report.temporaries.reduce((total, one) => total + one.bytes.value, 0);
  return 'Temporaries of ' + bytes(sum) + ' share an arena of ' + bytes(report.arena_bytes) + '.';
}

function temporary_name(one) {
  return (one.scratch ? 'scratch of ' : '') + one.nodes.map((node) => '%' + node).join(', ');
}

function arena_picture() {
  const left = 64, top = 8, height = 220, axis = 26;
  const column = Math.max(26, Math.min(110, 640 / report.steps.length));
  const width = left + column * report.steps.length + 8;
  const y = (offset) => top + height - height * offset / report.arena_bytes;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
      (part) => element(
          'g', {class: 'tick'}, element('line', {
            x1: left,
            x2: width - 8,
            y1: y(part * report.arena_bytes),
            y2: y(part * report.arena_bytes)
          }),
          element(
              'text', {x: left - 6, y: y(part * report.arena_bytes) + 4},
              bytes(part * report.arena_bytes))));
  const columns = report.steps.map(
      (step, index) => element(
          'g', {class: 'step', style: colour(step.group)},
          element(
              'rect',
              {x: left + index * column + 1, y: top + height + 4, width: column - 2, height: 4}),
          element('text', {x: left + (index + 0.5) * column, y: top + height + 20}, index)));
  const rectangles = report.temporaries.map((one, index) => {
    const x = left + one.first_step * column + 1;
    const wide = (one.last_step - one.first_step + 1) * column - 2;
    const high = Math.max(1, y(one.offset) - y(one.offset + one.bytes.value));
    const maker = report.steps[one.first_step];
    const label = 't' + index + ' ' + temporary_name(one);
    const fits = high >= 13 && wide >= 7 * label.length;
    return element(
        'g', {
          class: 'temporary',
          'data-temporary': index,
          style: colour(maker.group),
          role: 'button',
          'aria-label': label,
          ...activated(() => select_step(one.first_step))
        },
        element(
            'title', {},
            `${label}: ${bytes(one.bytes.value)} at ${one.offset}, steps ${one.first_step} to ${
                one.last_step}`),
        element(
            'rect',
            {x, y: y(one.offset) - high, width: wide, height: high, rx: Math.min(3, high / 2)}),
        high >= 13 &&
            element(
                'text', {x: x + wide / 2, y: y(one.offset) - high / 2 + 4},
                fits           ? label :
                    wide >= 18 ? 't' + index :
                                 ''));
  });
  const picture = element(
      'svg', {
        class: 'arena',
        width,
        height: top + height + axis,
        viewBox: `0 0 ${width} ${top + height + axis}`,
        role: 'group',
        'aria-label': 'Temporaries by step and their offsets in the arena'
      },
      ticks, columns, rectangles);
  return element('div', {class: 'scroll'}, arrows(picture, 'g.temporary'));
}

function temporaries_table() {
  if (!report.temporaries.length) return null;
  return element(
      'div', {class: 'scroll'},
      element(
          'table', {class: 'temporaries'},
          element(
              'thead', {},
              element(
                  'tr', {},
                  ['temporary', 'holds'].map((name) => element('th', {scope: 'col'}, name)),
                  ['bytes', 'offset', 'steps'].map(
                      (name) => element('th', {scope: 'col', class: 'number'}, name)))),
          element(
              'tbody', {},
              report.temporaries.map(
                  (one, index) => element(
                      'tr', {
                        'data-buffer': 't' + index,
                        style: colour(report.steps[one.first_step].group)
                      },
                      element(
                          'td', {}, element('span', {class: 'swatch'}),
                          element('code', {}, 't' + index)),
                      element('td', {}, element('code', {}, temporary_name(one))),
                      element('td', {class: 'number'}, quantity(one.bytes, bytes)),
                      element('td', {class: 'number'}, one.offset ?? 'at launch'),
                      element(
                          'td', {class: 'number'},
                          one.first_step === one.last_step ?
                              one.first_step :
                              one.first_step + ' to ' + one.last_step))))));
}

function arrays_table() {
  const row = (key, name, of, facts) => element(
      'tr', {'data-buffer': key}, element('td', {}, element('code', {}, name)),
      element('td', {}, element('code', {}, of.type)),
      element('td', {class: 'number'}, quantity(of.bytes, bytes)),
      element('td', {class: 'reason'}, facts.filter(Boolean).join(', ')));
  const taken =
      new Set(report.outputs.map((output) => output.in_input).filter((index) => index !== null));
  return element(
      'div', {class: 'scroll'},
      element(
          'table', {class: 'arrays'},
          element(
              'thead', {},
              element(
                  'tr', {}, element('th', {scope: 'col'}, 'array'),
                  element('th', {scope: 'col'}, 'type'),
                  element('th', {scope: 'col', class: 'number'}, 'bytes'),
                  element('th', {scope: 'col'}, 'memory'))),
          element(
              'tbody', {},
              report.inputs.map(
                  (input, index) =>
                      row('%' + index, 'input %' + index, input,
                          [
                            input.scalar && 'passed by value',
                            input.donated &&
                                (taken.has(index) ? 'donated, reused for an output' :
                                                    'donated, not reused'),
                            !input.scalar && input.alignment < 16 &&
                                'aligned to ' + input.alignment + ' bytes'
                          ])),
              report.outputs.map(
                  (output, index) => row('output ' + index, 'output ' + index, output, [
                    output.in_input !== null && 'in the memory of input %' + output.in_input,
                    output.same_as_output !== null &&
                        'the same array as output ' + output.same_as_output
                  ])))));
}
