/** Offers a file for download. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has started to read the file when the task that clicked is over.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
