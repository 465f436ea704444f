const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const unescapes: ReadonlyMap<string, string> = new Map([...escapes].map(([plain, escaped]) => [escaped, plain]));

/** Returns the name that expressions select a field by; undefined if they cannot. */
export function escapeFieldName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][\w./-]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[-./]/g, (part) => escapes.get(part) ?? part);
}

/** Returns the field that a name in an expression means; undefined if it is not an escaped field name. */
export function unescapeFieldName(escaped: string): string | undefined {
  let isValid = true;
  const name = escaped.replaceAll(/__.*?__/g, (part) => {
    const plain = unescapes.get(part);
    if (plain !== undefined) return plain;
    const word = part.slice(2, -2);
    if (!reserved.has(word) || part.length !== escaped.length) isValid = false;
    return word;
  });
  return isValid ? name : undefined;
}

/** Returns the escaped name, if the word is one that the grammar accepts as a field but that is escaped in types. */
export function reservedFieldName(name: string): string | undefined {
  return reserved.has(name) ? `__${name}__` : undefined;
}
