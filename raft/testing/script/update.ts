import { readScripts, rewriteScript } from "./script-file.ts";

/** Records the current behaviour of every scenario: `bun raft/testing/script/update.ts`. Review the diff. */
for (const script of readScripts()) rewriteScript(script);
