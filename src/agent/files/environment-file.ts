/**
 * Returns the value of a key in a file of variables, `NAME='value'` on each line. Values may span lines. Returns an
 * empty text for a key that is not there.
 * @throws Error for a file in another form
 */
export function environmentFileValue(text: string, key: string): string {
  const lines = text.split(/\r?\n/);
  const refuse = (index: number, problem: string) =>
    new Error(`invalid environment variable format at line ${index + 1}: ${problem}`);
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? "").replace(/^[ \t]+/, "");
    if (line === "" || line.startsWith("#")) continue;
    const equals = line.indexOf("=");
    if (equals === -1) throw refuse(index, "missing '='");
    const name = line.slice(0, equals);
    if (name.trimEnd() === "") throw refuse(index, "empty variable name");
    if (/[ \t]$/.test(name)) throw refuse(index, "whitespace before '=' is not allowed");
    let rest = line.slice(equals + 1);
    if (/^[ \t]/.test(rest)) {
      if (name === key) return "";
      continue;
    }
    if (!rest.startsWith("'")) throw refuse(index, "value must be enclosed in single quotes");
    const start = index;
    let value = "";
    for (rest = rest.slice(1); !rest.includes("'"); rest = lines[index] ?? "") {
      value += `${rest}\n`;
      index++;
      if (index >= lines.length) {
        throw new Error(`invalid environment variable format starting at line ${start + 1}: unclosed single quote`);
      }
    }
    const close = rest.indexOf("'");
    const after = rest.slice(close + 1).replace(/^[ \t]+/, "");
    if (after !== "" && !after.startsWith("#")) throw refuse(index, "unexpected content after closing quote");
    if (name === key) return value + rest.slice(0, close);
  }
  return "";
}
