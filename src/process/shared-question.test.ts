import { expect, test } from "bun:test";
import { SharedQuestion } from "./shared-question.ts";

test("callers of one turn share a question, and later ones share the next", async () => {
  const asked: PromiseWithResolvers<string>[] = [];
  const question = new SharedQuestion(() => {
    const answer = Promise.withResolvers<string>();
    asked.push(answer);
    return answer.promise;
  });
  const first = [question.ask(), question.ask()];
  await Promise.resolve();
  const second = [question.ask(), question.ask()];
  await Promise.resolve();
  expect(asked).toHaveLength(1);
  asked[0]?.resolve("first");
  expect(await Promise.all(first)).toEqual(["first", "first"]);
  expect(asked).toHaveLength(2);
  asked[1]?.resolve("second");
  expect(await Promise.all(second)).toEqual(["second", "second"]);
});

test("a failed question fails for those who share it, and the next one is asked", async () => {
  let fails = true;
  const question = new SharedQuestion(async () => {
    if (fails) throw new Error("no answer");
    return "answer";
  });
  const outcomes = await Promise.allSettled([question.ask(), question.ask()]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await question.ask()).toBe("answer");
});
