// SPDX-License-Identifier: GPL-2.0-only
/*
 * ns-3.37 looks through all packets in flight for a lost one before it sends the next: 2.5 Gbit/s
 * with windows of 10,000 packets came to a sixth of this speed. Here it looks only when it
 * knows of a loss. The definition takes the place of the library's when the program is linked,
 * and calls that for all other cases. A response function point and 40 s of the dumbbell printed the
 * same with it and without.
 *
 * And in recovery it makes a segment of no bytes, and dies of that, when the receiver's window is
 * full. Nothing new may be sent then. Windows that are never full do not meet this.
 */
#include <dlfcn.h>

#include <ns3/tcp-tx-buffer.h>

using namespace ns3;

typedef bool (*NextSegFunction)(const TcpTxBuffer *, SequenceNumber32 *, SequenceNumber32 *, bool);

bool TcpTxBuffer::NextSeg(SequenceNumber32 *seq, SequenceNumber32 *seqHigh, bool isRecovery) const
{
	static const NextSegFunction next_seg = (NextSegFunction)dlsym(
		RTLD_NEXT, "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b");
	SequenceNumber32 unsent = m_firstByteSeq + SequenceNumber32(m_sentSize);
	bool fits = m_rWndCallback.IsNull() || m_sentSize + m_segmentSize <= m_rWndCallback();

	if (m_lostOut || isRecovery || !SizeFromSequence(unsent)) {
		if (!next_seg(this, seq, seqHigh, isRecovery))
			return false;
		return *seq != unsent || fits;
	}
	if (!fits)
		return false;
	*seq = unsent; /* RFC 6675, NextSeg(), rule 2 */
	*seqHigh = *seq + m_segmentSize;
	return true;
}
