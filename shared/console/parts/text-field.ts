import { useState } from "react";

/** The text of an input. `input` has the properties that bind it. */
export function useTextField(initial = "") {
  const [value, set] = useState(initial);
  return {
    value,
    set,
    input: {
      value,
      onChange: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
    },
  };
}

/** Several addresses in one input. */
export const splitAddresses = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);
