import { PageHead } from '../ui/parts';

/** The page `dead-letters`. */
export default function Page() {
  return <PageHead title="dead-letters" />;
}
