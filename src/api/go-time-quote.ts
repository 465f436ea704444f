/**
 * Quotes a text as Go's errors about times and durations do: each byte that is not printable ASCII is written in hex.
 */
export function quoteTimeText(text: string): string {
  let quoted = "";
  for (const character of text) {
    if (character === '"' || character === "\\") quoted += `\\${character}`;
    else quoted += character >= " " && character < "\u0080" ? character : hexBytes(character);
  }
  return `"${quoted}"`;
}

function hexBytes(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
