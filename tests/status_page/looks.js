// Run in the page by status_page_test.py: text whose contrast is below WCAG 2.2's AA (4.5), as "text: ratio".
(() => {
  const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((value, i) => value * a + below[i] * (1 - a));
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    if (!element) return [255, 255, 255];
    const color = parse(getComputedStyle(element).backgroundColor);
    return color[3] === undefined ? color : over(color, background(element.parentElement));
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (node.textContent.trim() === "" || !element.checkVisibility() || element.closest("script, noscript, .hidden")) continue;
    const style = getComputedStyle(element);
    const behind = background(element);
    const color = over(parse(element instanceof SVGElement ? style.fill : style.color), behind);
    const [light, dark] = [luminance(color), luminance(behind)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) found.push(`${node.textContent.trim()}: ${ratio.toFixed(2)}`);
  }
  return found;
})()
