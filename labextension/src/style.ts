/** Style for all that the page shows, from now on. */
export function addStyle(text: string): void {
  const style = document.createElement('style');
  style.textContent = text;
  document.head.append(style);
}
