import { openAlone } from "../contract/open-alone.ts";
import { put } from "../contract/store-commands.ts";

/**
 * Writes to the store in a directory until it is killed. Prints each acknowledged write as one line, `key data revision`.
 * Compacts now and then, so that kills can interrupt that too.
 */
const [directory, round] = Bun.argv.slice(2) as [string, string];
const writers = 8;
const keysPerWriter = 20;
const compactEvery = 50;

const store = await openAlone({ directory });
console.log("open");

async function writeForever(writer: number): Promise<never> {
  for (let turn = 0; ; turn++) {
    const key = `/registry/pods/writer-${writer}/${turn % keysPerWriter}`;
    const data = `${round}-${turn}`;
    const answer = await store.commit(put(key, data));
    if (answer.kind === "applied") process.stdout.write(`${key} ${data} ${answer.revision}\n`);
    if (writer === 0 && turn % compactEvery === compactEvery - 1) void store.compact(store.revision);
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => writeForever(writer)));
