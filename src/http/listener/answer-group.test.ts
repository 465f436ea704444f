import { describe, expect, test } from "bun:test";
import { AnswerGroup } from "./answer-group.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A group, its clock, and the answers that it has sent. */
function group() {
  let nowMs = 0;
  const sent: string[] = [];
  const answers = new AnswerGroup(() => nowMs);
  return {
    sent,
    later: (ms: number) => void (nowMs += ms),
    begin: () => answers.begin(),
    answer: (name: string) => answers.send(() => sent.push(name)),
    ask(name: string) {
      answers.begin();
      answers.send(() => sent.push(name));
    },
  };
}

describe("AnswerGroup", () => {
  test("an answer is sent at once if no other request waits for one", () => {
    const { sent, later, ask } = group();
    ask("a");
    later(1);
    ask("b");
    expect(sent).toEqual(["a", "b"]);
  });

  test("an answer waits for the end of the turn while another request has none", async () => {
    const { sent, begin, answer } = group();
    begin();
    begin();
    answer("a");
    expect(sent).toEqual([]);
    answer("b");
    expect(sent).toEqual([]);
    await nextTurn();
    expect(sent).toEqual(["a", "b"]);
  });

  test("answers in quick succession are sent together, and so are the first ones after them", async () => {
    const { sent, later, ask } = group();
    for (const name of ["a", "b", "c"]) ask(name);
    expect(sent).toEqual(["a"]);
    await nextTurn();
    expect(sent).toEqual(["a", "b", "c"]);
    later(1);
    ask("d");
    expect(sent).toEqual(["a", "b", "c"]);
    await nextTurn();
    later(1);
    ask("e");
    expect(sent).toEqual(["a", "b", "c", "d", "e"]);
  });
});
