import { PageHead } from '../ui/parts';

/** The page `overview`. */
export default function Page() {
  return <PageHead title="overview" />;
}
