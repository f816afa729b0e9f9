import { ActionIcon, Menu } from "@mantine/core";
import {
  IconAlignLeft,
  IconCode,
  IconColumns2,
  IconHeading,
  IconLetterCase,
  IconLink,
  IconMenu2,
  IconMinus,
  IconPhoto,
  IconPlayerPlay,
  IconPlus,
  IconPuzzle,
  IconShoppingBag,
  IconSpacingVertical,
  IconSquareRoundedArrowRight,
  IconTable,
  type TablerIcon,
} from "@tabler/icons-react";
import { type BlockPlace, blockNames, takes } from "./block-changes.ts";
import type { BlockType } from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";

export const blockIcons: Record<BlockType, TablerIcon> = {
  heading: IconHeading,
  text: IconAlignLeft,
  button: IconSquareRoundedArrowRight,
  image: IconPhoto,
  columns: IconColumns2,
  divider: IconMinus,
  spacer: IconSpacingVertical,
  social: IconLink,
  menu: IconMenu2,
  video: IconPlayerPlay,
  table: IconTable,
  products: IconShoppingBag,
  html: IconCode,
  snippet: IconPuzzle,
  footer: IconLetterCase,
};

export const blockTypes = Object.keys(blockNames) as BlockType[];

interface AddBlockProps {
  place: BlockPlace;
  /** Names the place for a screen reader. */
  label: string;
}

/** The plus button between blocks. */
export function AddBlock({ place, label }: AddBlockProps) {
  const { add } = useDesignEditor();
  return (
    <Menu position="bottom" returnFocus={false}>
      <Menu.Target>
        <ActionIcon className="add-block wide-target" size={24} radius="xl" aria-label={label}>
          <IconPlus size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown className="menu-scroll">
        {blockTypes
          .filter((type) => takes(place.list, type))
          .map((type) => {
            const Icon = blockIcons[type];
            return (
              <Menu.Item
                key={type}
                leftSection={<Icon size={16} />}
                onClick={() => add(type, place)}
              >
                {blockNames[type]}
              </Menu.Item>
            );
          })}
      </Menu.Dropdown>
    </Menu>
  );
}
