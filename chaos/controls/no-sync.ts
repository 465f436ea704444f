import { replaceSource } from "./replace-source.ts";

replaceSource({
  name: "no-sync",
  file: /raft[/\\]storage[/\\]system-disk\.ts$/,
  correct: "fs.fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));",
  broken: "void reject, resolve();",
});
