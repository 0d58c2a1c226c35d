// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// An auction with phases, refunds in a mapping, and a highest bid.
contract Auction {
    enum Phase { Open, Closed }

    Phase phase;
    address seller = msg.sender;
    address leader;
    uint best;
    mapping(address => uint) refunds;

    function bid(uint amount) public {
        require(phase == Phase.Open && amount > best);
        if (leader != address(0)) {
            unchecked {
                refunds[leader] += best;
            }
        }
        uint before = best;
        leader = msg.sender;
        best = amount;
        assert(best > before); // expect: safe
    }

    function close() public {
        require(msg.sender == seller);
        phase = Phase.Closed;
    }

    function collect() public {
        uint amount = refunds[msg.sender];
        refunds[msg.sender] = 0;
        assert(refunds[msg.sender] == 0); // expect: safe
        require(amount > 0);
        assert(best > 0); // expect: safe
    }

    function alive() public view {
        assert(phase == Phase.Open); // expect: unsafe
    }
}
