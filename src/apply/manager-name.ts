const managerNameBytesMax = 128;

/** Returns the manager of a write: the fieldManager parameter, else the User-Agent up to its first slash, else `unknown`. */
export function managerName(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== "") return fieldManager;
  return printablePrefix(headerText((userAgent ?? "").split("/", 1)[0] as string)) || "unknown";
}

/** Reads the bytes of a header, which have one character each, as UTF-8. */
function headerText(characters: string): string {
  return shortAscii.test(characters) ? characters : Buffer.from(characters, "latin1").toString();
}

/** Matches ordinary names, which need no cleaning. */
const shortAscii = /^[ -~]{0,128}$/;
/** Matches the characters that Go does not print: control, format and separator characters, but not the blank. */
const unprintable = /^(?! )[\p{C}\p{Z}]$/u;

/** The text without its unprintable characters, cut to the limit between two characters. */
function printablePrefix(text: string): string {
  if (shortAscii.test(text)) return text;
  let result = "";
  let bytes = 0;
  for (const character of text) {
    if (unprintable.test(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > managerNameBytesMax) break;
    result += character;
  }
  return result;
}
