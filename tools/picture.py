"""Pictures as SVG, for draw_documents.py."""

from xml.sax.saxutils import escape

INK, SOFT, PAPER, LINE = "#22303c", "#5d6b78", "#ffffff", "#c3ccd4"


class Picture:
    """An SVG on a white sheet, so that it reads on dark pages too."""

    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def add(self, part):
        self.parts.append(part)

    def box(self, x, y, width, height, fill=PAPER, stroke=LINE, radius=5, dashed=False):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
                 f'fill="{fill}" stroke="{stroke}"{dash}/>')

    def text(self, x, y, words, size=13, color=INK, anchor="start", bold=False, mono=False):
        family = "ui-monospace, Menlo, Consolas, monospace" if mono else "system-ui, sans-serif"
        weight = ' font-weight="600"' if bold else ""
        for i, line in enumerate(words.split("\n")):
            self.add(f'<text x="{x:g}" y="{y + i * size * 1.35:g}" font-size="{size}" '
                     f'font-family="{family}" fill="{color}" text-anchor="{anchor}"{weight} '
                     f'xml:space="preserve">{escape(line)}</text>')

    def arrow(self, x1, y1, x2, y2, color=SOFT, head=True, dashed=False):
        marker = ' marker-end="url(#head)"' if head else ""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.add(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" '
                 f'stroke-width="1.4"{marker}{dash}/>')

    def cells(self, x, y, columns, rows, color_of, size=20, label_of=None):
        for row in range(rows):
            for column in range(columns):
                left, top = x + column * size, y + row * size
                self.box(left, top, size, size, color_of(row, column), PAPER, 2)
                if label_of and label_of(row, column):
                    self.text(left + size / 2, top + size * 0.68, label_of(row, column),
                              max(8, size * 0.48), PAPER, "middle")

    def svg(self):
        width, height = self.size
        head = ('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                f'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{SOFT}"/></marker></defs>')
        sheet = f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>'
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}">\n' + "\n".join([head, sheet, *self.parts]) + "\n</svg>\n")
