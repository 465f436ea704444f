/** The command of a serving process. Only `quorate up` and its relatives run it, so the help does not name it. */
export const servingProcessCommand = "serving-process";
