import { replaceSource } from "./replace-source.ts";

replaceSource({
  name: "no-barrier",
  file: /storage[/\\]etcd[/\\]read-barrier\.ts$/,
  correct: "const { header } = await client.repeat(methods.range, request, timeoutMs);",
  broken: "if (before > 0) return before; const { header } = await client.repeat(methods.range, request, timeoutMs);",
});
