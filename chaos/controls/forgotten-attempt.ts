import { replaceSource } from "./replace-source.ts";

replaceSource({
  name: "forgotten-attempt",
  file: /storage[/\\]etcd[/\\]etcd-writer\.ts$/,
  correct: 'if (error.kind === "interrupted") attempt.isUncertain = true;',
  broken: "",
});
