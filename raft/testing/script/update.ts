import { readScripts, rewriteScript } from "./script-file.ts";

/** `bun raft/testing/script/update.ts`: writes down what every scenario does now; the diff is what to review. */
for (const script of readScripts()) rewriteScript(script);
