export const managerNameBytesMax = 128;

/** Who a write is recorded under: the fieldManager parameter, else the User-Agent up to its first slash, else `unknown`. */
export function managerName(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== "") return fieldManager;
  const slash = userAgent?.indexOf("/") ?? -1;
  const product = slash < 0 ? userAgent : userAgent?.slice(0, slash);
  return printablePrefix(product ?? "") || "unknown";
}

/** All names but the oddest: nothing in them is to be left out. */
const shortAscii = /^[ -~]{0,128}$/;

/** The text without its unprintable characters, cut to the limit between two characters. */
function printablePrefix(text: string): string {
  if (shortAscii.test(text)) return text;
  let result = "";
  let bytes = 0;
  for (const character of text) {
    if (/^(?:\p{C}|\p{Zl}|\p{Zp})$/u.test(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > managerNameBytesMax) break;
    result += character;
  }
  return result;
}
