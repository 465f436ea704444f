/** Total length up to which warnings are sent unabridged. */
const warningCharactersMax = 4096;
/** Length to which each text is cut otherwise. */
const truncatedWarningCharacters = 256;

/** Returns header values `299 - "text"`, without texts that a header cannot contain. */
export function warningValues(texts: readonly string[]): string[] {
  if (texts.length === 0) return [];
  const usable = [...new Set(texts)].filter(isPrintable).map((text) => [...text]);
  const total = usable.reduce((sum, { length }) => sum + length, 0);
  const chosen = total <= warningCharactersMax ? usable : truncate(usable);
  return chosen.map((characters) => `299 - "${escape(characters.join(""))}"`);
}

function truncate(texts: readonly string[][]): string[][] {
  let room = warningCharactersMax;
  const chosen: string[][] = [];
  for (const text of texts) {
    const cut = text.slice(0, truncatedWarningCharacters);
    if (cut.length > room) break;
    room -= cut.length;
    chosen.push(cut);
  }
  return chosen;
}

function isPrintable(text: string): boolean {
  if (!text.isWellFormed()) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  }
  return true;
}

/** Header values are written as Latin-1, so each byte of the UTF-8 text becomes one character. */
function escape(text: string): string {
  return Buffer.from(text.replaceAll("\\", "\\\\").replaceAll('"', '\\"'), "utf8").toString("latin1");
}
