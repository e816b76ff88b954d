/** Handing a file to the user: the browser's own download. */

/** Save a blob under a name. */
export function saveBlob(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The download has its own reference once it began; one turn of the loop is enough for that.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
