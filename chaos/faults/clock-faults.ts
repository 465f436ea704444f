import { anyone, type Fault, leading, repeating, type Scene, type Undo } from "./fault.ts";

/** Interval at which libfaketime checks for a change. */
const strobeMs = 1_000;

function moved(name: string, does: string, offset: string, membersMin = 1): Fault {
  return {
    name,
    does,
    parts: ["clock"],
    membersMin,
    needs: "faketime",
    inject: async (scene) => {
      const member = membersMin === 1 ? anyone(scene) : await leading(scene);
      member.setClock(offset);
      return () => member.setClock("+0");
    },
  };
}

async function strobe(scene: Scene): Promise<Undo> {
  const member = anyone(scene);
  const jump = async () => {
    member.setClock(`${scene.random.chance(500) ? "+" : "-"}${scene.random.below(3_600)}`);
    await Bun.sleep(strobeMs);
  };
  return repeating(jump, () => member.setClock("+0"));
}

export const clockFaults: readonly Fault[] = [
  moved("clock-ahead", "one member's time of day is an hour ahead", "+3600"),
  moved("clock-behind", "one member's time of day is an hour behind", "-3600"),
  moved("clock-ahead-leader", "the leader's time of day is an hour ahead", "+3600", 3),
  moved("clock-second", "one member's time of day is a second ahead", "+1"),
  {
    name: "clock-strobe",
    does: "one member's time of day jumps by up to an hour back and forth every second",
    parts: ["clock"],
    membersMin: 1,
    needs: "faketime",
    inject: strobe,
  },
];
