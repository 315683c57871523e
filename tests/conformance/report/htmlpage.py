"""What a browser would make of a page."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The tags, attributes and texts of a page; an element is named as in `div.command`."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text, self.attributes = [], [], [], []
        self._elements, self._around = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "input"):
            self.open.append(tag)
            kind = dict(attrs).get("class")
            self._elements.append((f"{tag}.{kind}" if kind else tag, []))
            self._around.append(self._elements[-1][1])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self._around.pop()

    def handle_data(self, data):
        self.text.append(data)
        for texts in self._around:
            texts.append(data)

    def of(self, name):
        """Return the text of each such element, in the order of the page."""
        return ["".join(texts) for element, texts in self._elements if element == name]
