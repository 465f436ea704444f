const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const nameLengthMax = 63;

/** Returns a random integer in [0, below). A parameter, so that tests can fix it. */
export type RandomInt = (below: number) => number;

/** Returns `generateName`, cut to 58 characters, with five random characters that spell no word. */
export function generatedName(base: string, random: RandomInt): string {
  let name = base.slice(0, nameLengthMax - suffixLength);
  for (let i = 0; i < suffixLength; i++) name += alphabet[random(alphabet.length)];
  return name;
}
