/**
 * Replaces `$(NAME)` by the value that `valueOf` returns; without one the reference stays as it is. `$$` stands for a
 * single `$`, so `$$(NAME)` is the text `$(NAME)`.
 */
export function expandReferences(text: string, valueOf: (name: string) => string | undefined): string {
  let expanded = "";
  let at = 0;
  for (let dollar = text.indexOf("$"); dollar !== -1; dollar = text.indexOf("$", at)) {
    expanded += text.slice(at, dollar);
    const next = text[dollar + 1];
    const close = next === "(" ? text.indexOf(")", dollar) : -1;
    if (close !== -1) {
      const name = text.slice(dollar + 2, close);
      expanded += valueOf(name) ?? `$(${name})`;
      at = close + 1;
    } else {
      expanded += "$";
      at = dollar + (next === "$" ? 2 : 1);
    }
  }
  return expanded + text.slice(at);
}
