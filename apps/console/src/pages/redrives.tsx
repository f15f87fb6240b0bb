import { PageHead } from '../ui/parts';

/** The page `redrives`. */
export default function Page() {
  return <PageHead title="redrives" />;
}
