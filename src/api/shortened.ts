/** Characters that an error quotes of a document that somebody else wrote. */
export const quotedCharactersMax = 400;

/** Returns the text, or its beginning if it is too long for an error. */
export function shortened(text: string): string {
  return text.length <= quotedCharactersMax ? text : `${text.slice(0, quotedCharactersMax)}...`;
}
