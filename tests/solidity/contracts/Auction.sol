// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// An auction whose bids are withdrawn by those who were outbid.
contract Auction {
    address immutable seller = msg.sender;
    address leader;
    uint highest;
    bool closed;
    mapping(address => uint) refunds;

    modifier running() {
        require(!closed);
        _;
    }

    function bid() public payable running {
        require(msg.value > highest);
        if (leader != address(0))
            refunds[leader] += highest;
        uint before = highest;
        leader = msg.sender;
        highest = msg.value;
        assert(highest > before); // expect: safe
    }

    function close() public running {
        require(msg.sender == seller);
        closed = true;
    }

    function collect() public returns (uint amount) {
        amount = refunds[msg.sender];
        refunds[msg.sender] = 0;
        assert(refunds[msg.sender] == 0); // expect: safe
    }

    function untouched() public view {
        assert(leader == address(0) || highest > 0); // expect: safe
        assert(!closed || highest > 0); // expect: unsafe
    }
}
