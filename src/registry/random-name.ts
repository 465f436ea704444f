const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const nameLengthMax = 63;

/** A source of chance, so that a test can fix it: an integer in [0, below). */
export type RandomInt = (below: number) => number;

/** `generateName`, cut to 58 characters, plus five characters that spell no word. */
export function generatedName(base: string, random: RandomInt): string {
  let name = base.slice(0, nameLengthMax - suffixLength);
  for (let i = 0; i < suffixLength; i++) name += alphabet[random(alphabet.length)];
  return name;
}
